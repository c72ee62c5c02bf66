/* SPDX-License-Identifier: MIT */
/*
 * pthread_once, call_once, and the guards of C++'s local statics.
 *
 * Whoever ran the routine is before all who find it done, and these are in no order among each other. Acquiring and
 * releasing a lock would order them, which hides races, and would put a release into every caller, after which
 * reduction allows no lock: false alarms. A semaphore that is posted once, by whoever ran the routine and right after
 * it, and waited for by the others says just what is true: a wait moves like an acquire, posts come before all
 * later waits, and waits do not meet. The collector drops a thread's second wait for the same run: it learns
 * nothing by it, so it is no synchronisation (translate.c).
 *
 * A routine that is left by an exception or cancellation has not run: nothing was posted, and the next caller runs it.
 */
#include <pthread.h>
#include <threads.h>

#include "event/event.h"
#include "runtime/told.h"
#include "sched/order.h"

struct once {
	void (*routine)(void);
	const void *control;
	void *pc;
	bool ran;
};

/* The call that this thread is about to make: the routine has no argument to be found by. */
static __thread struct once *current __attribute__((tls_model("initial-exec")));

static void told_once(enum entry_kind kind, const struct once *o)
{
	told_sync((struct sync){.kind = kind, .small = OBJECT_ONCE, .object = o->control, .pc = o->pc});
}

static void run(void)
{
	struct once *o = current;

	o->routine();
	o->ran = true;
	told_once(ENTRY_SEM_POST, o);
}

/* The caller before, if this one is called by a routine or a signal handler. */
static struct once *enter(struct once *o)
{
	struct once *outer = current;

	current = o;
	return outer;
}

static void leave(const struct once *o, struct once *outer)
{
	current = outer;
	if (!o->ran)
		told_once(ENTRY_SEM_WAIT, o);
}

EXPORT int pthread_once(pthread_once_t *control, void (*routine)(void))
{
	struct once o = {routine, control, CALLER, false}, *outer;
	int result;

	gate_pass((struct gate_op){.kind = ORDER_ONCE, .need = NEED_ONCE, .object = control, .pc = CALLER});
	outer = enter(&o);
	result = REAL(pthread_once)(control, run);
	leave(&o, outer);
	return result;
}

WRAP_ALIAS(__pthread_once, pthread_once, (pthread_once_t *control, void (*routine)(void)))

EXPORT void call_once(once_flag *control, void (*routine)(void))
{
	struct once o = {routine, control, CALLER, false}, *outer;

	gate_pass((struct gate_op){.kind = ORDER_ONCE, .need = NEED_ONCE, .object = control, .pc = CALLER});
	outer = enter(&o);
	REAL(call_once)(control, run);
	leave(&o, outer);
}

/*
 * Guards. Compiled code looks at the first byte by itself, with an atomic load that acquires, and calls these only if
 * it is not set yet. So the release is told as the atomic store that such a load reads from.
 */

EXPORT int __cxa_guard_acquire(int64_t *guard);
EXPORT void __cxa_guard_release(int64_t *guard);

static void told_guard(enum entry_kind kind, enum event_order order, const void *guard, void *pc)
{
	told_sync((struct sync){
		.kind = kind, .small = order, .extra = 1, .object = guard, .pc = pc, .argument = 1,
	});
}

int __cxa_guard_acquire(int64_t *guard)
{
	int mine;

	gate_pass((struct gate_op){.kind = ORDER_ONCE, .need = NEED_GUARD, .object = guard, .pc = CALLER});
	mine = REAL(__cxa_guard_acquire)(guard);
	if (!mine)
		told_guard(ENTRY_ATOMIC_LOAD, ORDER_ACQUIRE, guard, CALLER);
	return mine;
}

void __cxa_guard_release(int64_t *guard)
{
	gate_pass((struct gate_op){.kind = EVENT_ATOMIC_STORE, .object = guard, .pc = CALLER});
	told_guard(ENTRY_ATOMIC_STORE, ORDER_RELEASE, guard, CALLER);
	REAL(__cxa_guard_release)(guard);
}
