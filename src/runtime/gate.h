/* SPDX-License-Identifier: MIT */
/*
 * The gate: a controlled run inside the program (MODE_GATE). One thread runs at a time. Before each operation a thread
 * says what it is about to do; the strategy of the order (sched/strategy.h) says who goes on, and if that is another
 * one, the turn is handed over by a futex and the thread sleeps until it is picked again. The gate carries out and
 * knows no strategy.
 *
 * Objects. A lock, semaphore or once-control is looked at where it lies (needs.h) to know whether an operation can be
 * done; whoever is let through then calls the real function, which has no reason to block. So results, errors, owners
 * and what a forked child finds are the real ones, and yet nobody ever waits inside of one: when nobody can go on, that
 * is a deadlock. Conditions and barriers have waiters, which nobody can see from outside: those are the gate's own
 * (gate_wait_condition(), gate_wait_barrier()).
 *
 * Time. A time limit passes when nobody can go on, the least first, and no time is spent on it; sleeping is letting
 * others go first. Only while some thread waits for the outside (input, a child, a signal) limits are those of the
 * clock. A limit that has passed already when the call is made is left to the real function.
 *
 * Input and output. A thread that would block in read or write waits at the gate until poll() says that it would not.
 * For calls that cannot be asked about so, the thread gives up the turn, and queues again when it is back.
 *
 * Accesses. Every access is a step, but a strategy need not be asked about each: see enum sched_asks. What memory
 * counts as shared is said in sharing.h; a new allocation is nobody's again, and so is the stack of a new thread, so
 * that what is asked does not depend on what the allocator gives out again. After GATE_UNASKED steps without a question
 * there is one.
 *
 * Waiting loops. A thread that only reads the same few things again and again (GATE_FRUITLESS steps), or has run for
 * GATE_TURN steps on end, is said to yield: others go first.
 *
 * Who may touch what. All of the gate's state belongs to whoever has the turn; the turn is handed on with a release
 * and taken with an acquire. A thread that is back from the outside says so in a word of its own. When nobody can
 * go on before that, nobody has the turn, and the next one that comes by takes it.
 *
 * Signal handlers run where they come up. In a thread that sleeps at the gate, or is inside of it, they run without
 * control: what they do is recorded, and their calls are the real ones. A forked child is not under control, nor are
 * threads that were not made by pthread_create or thrd_create.
 */
#ifndef FISSION_RUNTIME_GATE_H
#define FISSION_RUNTIME_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "runtime/needs.h"

enum {
	GATE_UNASKED = 4096,
	GATE_FRUITLESS = 16,
	GATE_TURN = 1 << 20,
};

/* What a thread is about to do. */
struct gate_op {
	uint32_t kind; /* as in struct order_step */
	enum need need;
	const volatile void *object;
	const void *mutex; /* of a wait */
	void *pc;
	const struct timespec *limit; /* NULL: none */
	clockid_t clock;              /* of the limit */
	int fd;
	short events;   /* NEED_DESCRIPTOR */
	bool cancels;   /* a cancellation point */
};

struct gate_thread;

extern bool gate_on __attribute__((visibility("hidden")));
/* The calling thread's; NULL: it is not under control, or is inside of the gate. */
extern __thread struct gate_thread *gate_mine __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The process begins, with its first thread; by whoever has found the channel and a ring. */
void gate_start(void);
/* What is loaded has changed. */
void gate_modules(void);

/*
 * Before an operation: returns when it is the thread's turn and the operation can be done. False: its time is over. A
 * thread that is cancelled meanwhile does not return, if `cancels`. True at once if it is not under control.
 */
bool gate_step(const struct gate_op *op);

/* A macro, so that without the gate nothing of the operation is put together. */
#define gate_pass(...) gate_passed(__builtin_expect(!gate_on, 1) || gate_step(&__VA_ARGS__))

static inline bool gate_passed(bool passed)
{
	return passed;
}

/* An access to memory; kind EVENT_READ or EVENT_WRITE, or an atomic's. */
void gate_access(uint32_t kind, const volatile void *address, size_t size, void *pc);
/* The operation has changed something: whoever repeats it is not in a waiting loop. */
void gate_progressed(void);

static inline void gate_progress(void)
{
	if (__builtin_expect(gate_on, 0))
		gate_progressed();
}

/* New memory there: nobody has touched it. */
void gate_forget(const void *at, size_t bytes);

/* Threads. The maker announces it; SLOT_NONE: it will not be under control. */
enum { SLOT_NONE = UINT32_MAX };
uint32_t gate_born(uint32_t number, void *pc);
void gate_unborn(uint32_t slot);
/* By the thread itself, before anything else; its stack lies in so many bytes below. */
void gate_arrive(uint32_t slot, size_t stack);
/* Its ring is there. */
void gate_known(void);
/* Its end: the step before it, then who is next, and then, when its last entry is written, lets that one go on. */
void gate_ending(void);
uint32_t gate_leave(void);
void gate_let(uint32_t slot);
bool gate_has_ended(uint32_t number);
/* The thread of that number is to be cancelled. */
void gate_cancel(uint32_t number);

/* The calling thread was not made by a wrapper. */
void gate_adopted(void);

/* A forked child: no gate. */
void gate_forked(void);
/* A jump has left the signal handler in which the thread was while it slept at the gate. */
void gate_jumped(void);

/* A cancellation point, if the thread was cancelled. */
void gate_test_cancel(void);

/* Between these the thread goes on as long as it can: it has something of libc's that nobody else may wait for. */
void gate_hold(void);
void gate_release(void);

/*
 * The wait itself, between the release of the mutex, whose result and function the caller gives, and its lock: false if
 * the time is over. Both are called by a thread under control.
 */
bool gate_wait_condition(const struct gate_op *op);
void gate_enter_condition(const volatile void *condition);
void gate_leave_condition(void);
void gate_notify(const volatile void *condition, bool all);

/* At a barrier of so many parties: whether the caller is the last. The others go on by a step of ORDER_DEPART. */
bool gate_arrive_barrier(const volatile void *barrier, uint32_t parties);

/* Around a call that may block: the turn is given up, and asked for again. Returns whether it was. */
bool gate_away(void *pc);
void gate_back(void);

/* A call of the system was made, so that descriptors may have become ready. */
void gate_system(void);

/* An operation on an object of several processes, done without control. */
void gate_real(void);

#endif
