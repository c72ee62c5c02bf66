/* SPDX-License-Identifier: MIT */
/*
 * What every event of a small trace needs before it can happen and what it then changes, for searches over
 * reorderings: reorder.h has the rules. What reads see is not here but in memory.h.
 *
 * Representation: an event is a step; the re-acquire of a wait is a step of its own before that of the thread's next
 * event. Steps lie thread by thread, so that sets of steps are masks of 64 bits. A *position* says how many steps a
 * thread has done; the positions of all threads are the bytes of one word. All that locks, barriers, semaphores, forks
 * and joins decide follows from the positions, whichever way they were reached.
 */
#ifndef FISSION_TESTS_PROPS_STEPS_H
#define FISSION_TESTS_PROPS_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "reorder.h"

enum { STEPS_MOST = 64, STEPS_LOCKS = 32, STEPS_SEMAPHORES = 8, STEPS_CELLS = 64 };

/* Locks by number, from bit 0. */
struct hold {
	uint32_t exclusive, shared;
};

struct step {
	const struct event *event;
	bool reacquires; /* as the wait before `event` asks; `event` itself is the next step */
	bool declared;	 /* its transaction is a block */
	uint8_t thread;
	uint8_t lock;			/* that it acquires or acquires again, from 1 */
	uint8_t semaphore;		/* that it waits for, from 1 */
	uint64_t need;			/* the least positions */
	struct hold takes;		/* what its thread did not hold before and must be free of others */
	struct hold hold;		/* what its thread holds after it */
	int8_t units[STEPS_SEMAPHORES]; /* posts less waits of its thread so far */
	uint64_t cells;			/* the memory that it accesses or gives out, see steps_make() */
	uint64_t node;			/* all steps of its transaction */
	uint64_t round;			/* all arrivals of the round that it departs from */
};

/* Positions leave this bit free: with it they are never 0, as the keys of seen.h must be. */
static const uint64_t STEPS_MARK = (uint64_t)1 << 63;

struct steps {
	struct step at[STEPS_MOST];
	uint8_t first[REORDER_THREADS_MOST + 1]; /* where the steps of each thread begin; behind the last: of all */
	uint8_t order[STEPS_MOST];		 /* the steps as in the trace */
	size_t threads;
	thread_id id[REORDER_THREADS_MOST];
	int8_t units[STEPS_SEMAPHORES]; /* to begin with */
	bool allocs;			/* there are some by address */
};

/*
 * False if the trace is too large. The events must stay where they are. A cell is a piece of memory that every access
 * touches as a whole or not at all: a named variable, or bytes between two ends of accesses.
 */
bool steps_make(struct steps *s, const struct event *events, size_t n);

/* The step of the event with the seq itself, or -1. */
int steps_of(const struct steps *s, uint64_t seq);

static inline size_t steps_count(const struct steps *s)
{
	return s->first[s->threads];
}

static inline unsigned steps_done(uint64_t positions, size_t t)
{
	return positions >> (8 * t) & 0xff;
}

/* The position of the step's thread when the step has just been done. */
static inline unsigned steps_position(const struct steps *s, size_t i)
{
	return (unsigned)i + 1 - s->first[s->at[i].thread];
}

/* The thread's next step, or -1. */
static inline int steps_next(const struct steps *s, uint64_t positions, size_t t)
{
	unsigned i = s->first[t] + steps_done(positions, t);

	return i < s->first[t + 1] ? (int)i : -1;
}

/* Whether all of the trace has been done. */
bool steps_complete(const struct steps *s, uint64_t positions);

/* The steps that have been done. */
uint64_t steps_mask(const struct steps *s, uint64_t positions);

/* Whether the step, its thread's next one, may happen now as far as synchronisation goes. */
bool steps_can(const struct steps *s, uint64_t positions, size_t i);

/* Adds the demand that step i come only after step j. */
void steps_require(struct steps *s, size_t i, size_t j);

/* Whether the step may have to wait for others to let go of something. Any other, once it can happen, can until it
 * does, and keeps nobody else from anything. */
static inline bool steps_takes(const struct step *e)
{
	return e->takes.exclusive || e->takes.shared || e->semaphore;
}

static inline bool steps_writes(const struct step *e)
{
	uint8_t k = e->event->kind;

	return !e->reacquires &&
	       (k == EVENT_WRITE || k == EVENT_ATOMIC_STORE || k == EVENT_ATOMIC_RMW || k == EVENT_ALLOC);
}

static inline bool steps_reads(const struct step *e)
{
	return !e->reacquires && (event_is_read(e->event->kind) || e->event->kind == EVENT_ATOMIC_RMW);
}

#endif
