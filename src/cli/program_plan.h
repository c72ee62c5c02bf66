/* SPDX-License-Identifier: MIT */
/*
 * What a program must have and do to perform a trace: one pass over the events, before anything is written.
 *
 * Steps are the events, numbered from 1 as in the trace. The plan links each step with the next one of its thread,
 * an enter with its exit, and says of each object what it must be: which locks have a shared side, which are
 * recursive, what a semaphore starts with, how a wait is woken.
 *
 * Waits. A wait lets go of its mutex at its own step; its thread has the mutex again at its next step, `until`. In
 * between, others may have held it: `from` is the step of the last release by one of them. A thread that wakes
 * before that turn waits again; one that wakes later has the mutex, keeps it, and nobody needs it before `until`.
 * A notify that comes at the right time ends the wait. The wait is `woken` by one if
 *   - it was a notify_all, or the thread was the only one in a wait on that condition;
 *   - somebody else had acquired the mutex since the wait: so the wait had begun, not only its step; and
 *   - nobody acquired it between the notify and `until`: so whenever the thread gets the mutex, `from` has come.
 * Every other wait that ends must be ended by the program's main thread, by a broadcast right before `until`.
 *
 * Cost: constant an event, but linear in the waits on a condition for a notify.
 */
#ifndef FISSION_CLI_PROGRAM_PLAN_H
#define FISSION_CLI_PROGRAM_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/seg.h"
#include "cli/program_memory.h"
#include "event/wellformed.h"

struct arena;

struct step {
	struct event e;
	struct spot spot;   /* accesses, alloc, free */
	uint32_t next;      /* the thread's next step, 0: it has none */
	uint32_t match;     /* enter: its exit, 0: the trace ends before */
	uint32_t outer;     /* enter: the enter of the function around it, or 0 */
	uint32_t chain;     /* enter: the function's next activation; barrier: the arrival before, in its round */
	uint32_t number;    /* enter: which activation; wait: which one; barrier: which object */
	bool completes;     /* barrier: the last arrival of its round */
};

struct plan_thread {
	bool seen;          /* it is in the trace at all */
	bool forked, joined;
	bool arrived;       /* it is at a barrier whose round is not complete */
	uint32_t number;    /* from 0, in the order of appearance */
	uint32_t first, last; /* its steps */
	uint32_t open;      /* its innermost open enter */
	uint32_t blocks;    /* its open blocks */
};

/* A name may be a lock, a condition, a barrier and a semaphore; the program has one object for each. */
struct plan_sync {
	bool lock, condition, semaphore;
	bool shared, recursive, waited; /* the lock */
	uint32_t depth;                 /* how often its holder has it on the exclusive side */
	uint32_t acquired, released;    /* the last steps that did */
	uint32_t waits;                 /* the newest open wait on the condition */
	uint32_t waiting;               /* how many are open */
	uint32_t arrival;               /* the last arrival of the barrier's round */
	uint32_t arrivals;              /* of this round */
	uint32_t barriers;              /* the newest barrier object of that name */
	int64_t posted, deficit;        /* posts minus waits; the most that were missing */
};

struct plan_wait {
	uint32_t step, from, until; /* until 0: it does not end in this trace */
	uint32_t notified;          /* the last notify that could have woken it */
	uint32_t depth;             /* how often the thread holds the mutex */
	uint32_t older, newer;      /* open waits on the condition */
	bool woken;
};

/* Rounds with other parties are rounds of another object. */
struct plan_barrier {
	sync_id name;
	uint32_t older; /* of the same name */
	uint64_t parties;
};

struct plan_code {
	uint32_t first, last; /* its activations' enters */
	uint32_t activations;
};

struct plan {
	struct arena *arena;
	const struct tables *tables;
	struct wellformed wellformed;
	struct memory memory;
	struct seg steps, threads, syncs, codes, waits, barriers; /* by number or id, from 1 */
	uint32_t step_count, thread_count, wait_count, barrier_count;
	thread_id *thread; /* by plan_thread.number */
	size_t thread_capacity;
	uint32_t *roused; /* the waits that main ends, by `until` */
	size_t roused_count, roused_capacity;
	enum trace_field field; /* what a refusal points at */
	char why[256];          /* of a refusal, in words */
};

void plan_init(struct plan *p, struct arena *a, const struct tables *tables);

/* Takes the next event. False, with `why` and `field`, if it is not well-formed or no program can perform it. */
bool plan_add(struct plan *p, const struct event *e);

/* After the last event. */
void plan_finish(struct plan *p);

static inline struct step *plan_step(struct plan *p, uint32_t number)
{
	return seg_at(&p->steps, number, sizeof(struct step));
}

static inline struct plan_thread *plan_thread(struct plan *p, uint64_t id)
{
	return seg_at(&p->threads, id, sizeof(struct plan_thread));
}

static inline struct plan_sync *plan_sync(struct plan *p, uint64_t id)
{
	return seg_at(&p->syncs, id, sizeof(struct plan_sync));
}

static inline struct plan_code *plan_code(struct plan *p, uint64_t id)
{
	return seg_at(&p->codes, id, sizeof(struct plan_code));
}

static inline struct plan_wait *plan_wait(struct plan *p, uint32_t number)
{
	return seg_at(&p->waits, number, sizeof(struct plan_wait));
}

static inline struct plan_barrier *plan_barrier(struct plan *p, uint32_t number)
{
	return seg_at(&p->barriers, number, sizeof(struct plan_barrier));
}

/* Whether the thread stays in a wait or at a barrier for good. */
bool plan_is_stuck(struct plan *p, thread_id t);

/* Whether somebody has to join the thread, and nobody in the trace does. A thread ends with no block open. */
bool plan_is_left(struct plan *p, thread_id t);

#endif
