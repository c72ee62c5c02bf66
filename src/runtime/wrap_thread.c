/* SPDX-License-Identifier: MIT */
/*
 * Threads: create, join, detach, the end.
 *
 * The maker takes the new thread's number and the fork's ticket before the thread exists, and writes the entry once
 * it does: the child's own first ticket is greater. Its slots are taken before, too, because libc allocates memory on
 * the way, which has tickets of its own, and because a ticket without slots may be given up.
 *
 * A thread ends, whether it returns, exits or is cancelled, when the destructors of its keys have run; so ours asks to
 * be called again for as many rounds as there are. The main thread, and those that libc makes for timers and the
 * like, have it too: self.c lets them be adopted.
 */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <threads.h>

#include "event/event.h"
#include "runtime/gate.h"
#include "runtime/os.h"
#include "runtime/robust.h"
#include "runtime/stack.h"
#include "runtime/symbolic.h"
#include "runtime/threads.h"
#include "runtime/told.h"
#include "runtime/walk.h"

struct start {
	union {
		void *(*posix)(void *);
		int (*c11)(void *);
	} routine;
	void *argument;
	uint32_t number;
	uint32_t slot;  /* of the gate */
	size_t stack;   /* bytes of it, if anybody wants to know */
	bool detached; /* from its beginning: nobody will ever ask for its number */
	bool masked;   /* its attributes say what signals it takes */
	uint64_t mask; /* otherwise: the signals that its maker blocks, and so does it */
	uint32_t expr; /* in a walk: of the argument */
};

/* A thread that is being made. */
struct making {
	struct self *s;
	struct start *start; /* NULL: it is made without us. Its memory is the new thread's, if there is one */
	uint32_t number, slot;
	struct early fork;
	bool masked; /* as in struct start, whose memory may be gone */
	uint64_t mask;
	void *pc;
};

static pthread_key_t key;
static bool key_made;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void ending(void *rounds)
{
	uintptr_t left = (uintptr_t)rounds;
	uint32_t next;

	if (left > 1) {
		pthread_setspecific(key, (void *)(left - 1));
		return;
	}
	gate_ending();
	robust_told();
	threads_ended();
	next = gate_leave();
	self_finish();
	if (next != SLOT_NONE)
		gate_let(next);
}

static void make_key(void)
{
	key_made = pthread_key_create(&key, ending) == 0;
}

/* The calling thread's end will be told. */
static void expect_end(void)
{
	REAL(pthread_once)(&key_once, make_key);
	if (key_made)
		pthread_setspecific(key, (void *)(uintptr_t)PTHREAD_DESTRUCTOR_ITERATIONS);
}

void threads_adopt(uint32_t number)
{
	threads_add(pthread_self(), number);
	expect_end();
}

static struct start begun(void *argument)
{
	struct start start = *(struct start *)argument;

	os_unmap(argument, sizeof start);
	if (!start.detached)
		threads_add(pthread_self(), start.number);
	gate_arrive(start.slot, start.stack);
	stack_expect(start.stack);
	self_begin(start.number);
	gate_known();
	expect_end();
	if (!start.masked)
		os_restore_signals(&start.mask);
	return start;
}

static void *routine_posix(void *argument)
{
	struct start start = begun(argument);

	if (walk_on) {
		symbolic_call((const void *)start.routine.posix);
		symbolic_pass(0, start.expr);
	}
	return start.routine.posix(start.argument);
}

static int routine_c11(void *argument)
{
	struct start start = begun(argument);

	return start.routine.c11(start.argument);
}

/*
 * The new thread starts with all signals blocked: a handler that ran in it before it is known here would make it a
 * thread of another number.
 */
static void make(struct making *m, struct start start)
{
	m->start = m->s ? os_map(sizeof start, -1) : NULL;
	if (!m->start)
		return;
	if (!start.masked)
		os_block_signals(&start.mask);
	m->mask = start.mask;
	m->masked = start.masked;
	start.number = m->number = self_number();
	start.slot = m->slot = gate_born(m->number, m->pc);
	*m->start = start;
	m->fork = self_early(m->s);
}

static void made(const struct making *m, bool exists)
{
	self_late(m->s, m->fork, (struct sync){
		.kind = exists ? ENTRY_FORK : ENTRY_TICK, .object = (void *)(uintptr_t)m->number, .pc = m->pc,
	});
	if (!exists) {
		gate_unborn(m->slot);
		os_unmap(m->start, sizeof *m->start);
	}
	if (!m->masked)
		os_restore_signals(&m->mask);
}

static bool is_detached(const pthread_attr_t *attr)
{
	int state = PTHREAD_CREATE_JOINABLE;

	if (attr)
		pthread_attr_getdetachstate(attr, &state);
	return state == PTHREAD_CREATE_DETACHED;
}

/* How large its stack will be; 0 if nobody wants to know. */
static size_t stack_of(const pthread_attr_t *attr)
{
	pthread_attr_t usual;
	size_t bytes = 0;
	bool wanted = gate_on || (channel && channel->mode & MODE_STOCK);

	if (!wanted || (!attr && pthread_attr_init(&usual) != 0))
		return 0;
	pthread_attr_getstacksize(attr ? attr : &usual, &bytes);
	if (!attr)
		pthread_attr_destroy(&usual);
	return bytes;
}

static bool is_masked(const pthread_attr_t *attr)
{
	sigset_t mask;

	return attr && pthread_attr_getsigmask_np(attr, &mask) == 0;
}

EXPORT int pthread_create(pthread_t *handle, const pthread_attr_t *attr, void *(*run)(void *), void *argument)
{
	struct making m = {.s = self(), .pc = CALLER};
	bool detached = is_detached(attr);
	int result;

	gate_pass((struct gate_op){.kind = EVENT_FORK, .pc = CALLER});
	make(&m, (struct start){
		.routine.posix = run, .argument = argument, .detached = detached, .masked = is_masked(attr),
		.stack = stack_of(attr), .expr = walk_on ? symbolic_argument((const void *)pthread_create, 3) : 0,
	});
	if (!m.start)
		return REAL(pthread_create)(handle, attr, run, argument);
	result = REAL(pthread_create)(handle, attr, routine_posix, m.start);
	if (result == 0 && !detached)
		threads_add(*handle, m.number);
	made(&m, result == 0);
	if (walk_on)
		symbolic_return((const void *)pthread_create, 0);
	return result;
}

EXPORT int thrd_create(thrd_t *handle, thrd_start_t run, void *argument)
{
	struct making m = {.s = self(), .pc = CALLER};
	int result;

	gate_pass((struct gate_op){.kind = EVENT_FORK, .pc = CALLER});
	make(&m, (struct start){.routine.c11 = run, .argument = argument, .stack = stack_of(NULL)});
	if (!m.start)
		return REAL(thrd_create)(handle, run, argument);
	result = REAL(thrd_create)(handle, routine_c11, m.start);
	if (result == thrd_success)
		threads_add(*handle, m.number);
	made(&m, result == thrd_success);
	return result;
}

/* The number is asked for before: the handle may be another's as soon as the join is done. */
static void joined(pthread_t handle, uint32_t number, void *pc)
{
	if (!number)
		return;
	threads_joined(handle, number);
	told(ENTRY_JOIN, (void *)(uintptr_t)number, pc);
}

/* Whether the thread has ended, or the real function is to say what is the matter; false: the time is over. */
static bool joins(pthread_t handle, uint32_t number, struct gate_op op)
{
	op.kind = EVENT_JOIN;
	op.object = (const void *)(uintptr_t)number;
	if (!number || pthread_equal(handle, pthread_self()))
		op.need = NEED_NOTHING;
	return gate_pass(op);
}

/* What has ended for the gate is on its way out of libc: the real function may wait for that, and no longer. */
#define WRAP_JOIN(name, op, expired, parameters, arguments) \
	EXPORT int name parameters \
	{ \
		uint32_t number = threads_find(handle); \
		int result = joins(handle, number, op) ? REAL(name) arguments : expired; \
		if (result == 0) \
			joined(handle, number, CALLER); \
		return result; \
	}

#define JOIN(until, which) \
	((struct gate_op){.need = NEED_ENDED, .pc = CALLER, .limit = until, .clock = which, .cancels = true})

WRAP_JOIN(pthread_join, JOIN(NULL, 0), 0, (pthread_t handle, void **value), (handle, value))
WRAP_JOIN(pthread_timedjoin_np, JOIN(until, CLOCK_REALTIME), ETIMEDOUT,
	(pthread_t handle, void **value, const struct timespec *until), (handle, value, until))
WRAP_JOIN(pthread_clockjoin_np, JOIN(until, clock), ETIMEDOUT,
	(pthread_t handle, void **value, clockid_t clock, const struct timespec *until), (handle, value, clock, until))
WRAP_JOIN(thrd_join, JOIN(NULL, 0), 0, (thrd_t handle, int *value), (handle, value))

/*
 * One that has ended for the gate is joined, although libc may need a moment: whether it is, must not depend on that.
 */
EXPORT int pthread_tryjoin_np(pthread_t handle, void **value)
{
	uint32_t number = threads_find(handle);
	bool ended = joins(handle, number, (struct gate_op){.pc = CALLER}) && gate_on && number && gate_has_ended(number);
	int result = ended ? REAL(pthread_join)(handle, value) : REAL(pthread_tryjoin_np)(handle, value);

	if (result == 0)
		joined(handle, number, CALLER);
	return result;
}

/* A thread that is under control acts on it where it waits. */
EXPORT int pthread_cancel(pthread_t handle)
{
	gate_pass((struct gate_op){.kind = EVENT_NOTIFY, .pc = CALLER});
	gate_cancel(threads_find(handle));
	return REAL(pthread_cancel)(handle);
}

/* Told to the table before: a detached handle may be another's at once. */
EXPORT int pthread_detach(pthread_t handle)
{
	threads_detached(handle);
	return REAL(pthread_detach)(handle);
}

EXPORT int thrd_detach(thrd_t handle)
{
	threads_detached(handle);
	return REAL(thrd_detach)(handle);
}
