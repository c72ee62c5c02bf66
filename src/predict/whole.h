/* SPDX-License-Identifier: MIT */
/*
 * A trace as a whole, in memory: for those who reorder it.
 *
 * Events are as the reader hands them out, number i at event[i] with seq i + 1, well-formed (of a lenient reading:
 * without what was wrong), and with the call stack that enters and exits tell, where the trace gives none. Beside them
 * stands what they mean to each other:
 *
 * - Locations: memory is cut at every end of an access, so that an access touches a location whole or not at all.
 *   Those of one access are neighbours: span[i] of event i.
 * - Steps: what another thread can notice of an event. Accesses to memory that two threads touch and one of them
 *   writes, outermost acquires and releases, forks, joins, barriers, semaphores, notifies; nothing else. A wait is a
 *   release where it stands and an acquire right before its thread's next event; a barrier an arrival and, there, a
 *   departure. An alloc is a write: it begins a new life of its bytes.
 *
 * Representation: arrays by number; lists (of a thread, of a location, of a lock) are slices of one array each, in the
 * order of the trace. Built once, by whole_finish(); nobody writes afterwards, so any number of threads may read.
 * Cost: about 150 bytes an event, n log n for the locations.
 */
#ifndef FISSION_PREDICT_WHOLE_H
#define FISSION_PREDICT_WHOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "event/wellformed.h"

struct arena;
struct fault;
struct tables;

enum { NO_STEP = UINT32_MAX };

enum step_kind {
	STEP_READ,
	STEP_WRITE,
	STEP_UPDATE, /* an atomic read-modify-write: both in one */
	STEP_ACQUIRE,
	STEP_RELEASE,
	STEP_FORK,
	STEP_JOIN,
	STEP_ARRIVE,
	STEP_DEPART,
	STEP_POST,
	STEP_TAKE,
	STEP_NOTIFY,
};

struct step {
	uint32_t event;  /* its number; of a wait's acquire and of a departure, that of the event right behind */
	uint32_t thread; /* dense, from 0, in the order in which the trace has them */
	uint32_t at;     /* number in its thread's list */
	uint8_t kind;    /* enum step_kind */
	bool shared;     /* of a lock's shared side */
	bool waits;      /* the release or the acquire of a condition wait */
	uint32_t object; /* sync_id; of forks and joins the other thread; of a barrier the number of the round, from 0 */
	uint32_t locs;   /* accesses: how many locations from `object` on */
	uint32_t source; /* accesses that read: where the sources of its locations begin in whole->source */
	/*
	 * An acquire: its release. A release: its acquire. A take: the post that it lives on. An arrival: the one before it in
	 * the round. NO_STEP if there is none.
	 */
	uint32_t mate;
	uint32_t signal; /* the acquire of a wait: the notify that ended it, NO_STEP if nobody did */
	uint32_t held;   /* the sections that it is in: see struct holding */
};

/* A list of open sections, innermost first; number 0 is the empty one. */
struct holding {
	uint32_t acquire; /* the step */
	uint32_t next;
};

/* Locations from `loc` on. */
struct span {
	uint32_t loc, locs;
};

/* A slice of a list of steps, in the order of the trace. */
struct slice {
	const uint32_t *at;
	uint32_t count;
};

struct whole_thread {
	thread_id id;
	uint32_t fork, join; /* steps; NO_STEP */
	uint32_t first, count; /* its slice of by_thread */
};

struct whole {
	struct arena *arena;
	struct tables *tables;
	struct event *event;
	size_t count, capacity;
	uint64_t skipped;             /* of a lenient reading */
	const char *cut;              /* where the file was cut off; NULL: it is complete */
	uint64_t broken[WF_RULES];    /* dropped or mended, by rule */

	struct span *span; /* by event */
	uint32_t locs;     /* locations are 0 to this - 1 */
	uint64_t *edge;    /* of addressed memory: where location i begins; named objects come behind these */
	uint32_t edges;

	struct step *step;
	uint32_t steps;
	uint32_t *step_of;  /* by event: its own step, NO_STEP */
	uint32_t *first_of; /* by event: the first step that belongs to it or comes behind; one more than there are events */
	uint32_t *source;   /* the write that a read sees of each of its locations; NO_STEP: the initial value */
	struct holding *holding;
	uint32_t holdings;

	struct whole_thread *thread;
	uint32_t threads;
	uint32_t *thread_of; /* by thread_id */
	uint32_t *by_thread, *by_loc, *loc_first, *by_lock, *lock_first;
	uint32_t syncs;      /* locks, conditions, barriers, semaphores are 1 to this */
	uint32_t *round;     /* by number of a barrier's round: its last arrival; the others by `mate` */
	uint32_t rounds;
	void *building; /* while it is made */
};

void whole_init(struct whole *w, struct arena *a, struct tables *tables);

/* Adds an event. The caller has judged it: `step` is what wellformed_step() said. */
void whole_add(struct whole *w, const struct event *e, const struct wf_step *step);

/* After the last one. */
void whole_finish(struct whole *w);

/* All of a file: init, add and finish. False with a fault. */
bool whole_read(struct whole *w, const char *path, bool lenient, struct fault *fault);

/* The same of events that were collected: those that break a rule are left out and counted. */
void whole_take(struct whole *w, const struct event *events, size_t n);

static inline struct slice whole_thread_steps(const struct whole *w, uint32_t thread)
{
	return (struct slice){w->by_thread + w->thread[thread].first, w->thread[thread].count};
}

/* The last step of a thread: what its join comes after. Its fork if it has none, or NO_STEP. */
static inline uint32_t whole_last_step(const struct whole *w, uint32_t thread)
{
	const struct whole_thread *t = &w->thread[thread];

	return t->count ? w->by_thread[t->first + t->count - 1] : t->fork;
}

/* The accesses of a location. */
static inline struct slice whole_loc_steps(const struct whole *w, uint32_t loc)
{
	return (struct slice){w->by_loc + w->loc_first[loc], w->loc_first[loc + 1] - w->loc_first[loc]};
}

/* The acquires of a lock. */
static inline struct slice whole_lock_steps(const struct whole *w, sync_id lock)
{
	return (struct slice){w->by_lock + w->lock_first[lock], w->lock_first[lock + 1] - w->lock_first[lock]};
}

/* How many of the slice come before the step. */
uint32_t slice_before(struct slice s, uint32_t step);

static inline bool step_is_access(const struct step *s)
{
	return s->kind <= STEP_UPDATE;
}

static inline bool step_reads(const struct step *s)
{
	return s->kind == STEP_READ || s->kind == STEP_UPDATE;
}

static inline bool step_writes(const struct step *s)
{
	return s->kind == STEP_WRITE || s->kind == STEP_UPDATE;
}

/* Whether the step touches the location. */
static inline bool step_touches(const struct step *s, uint32_t loc)
{
	return step_is_access(s) && loc - s->object < s->locs;
}

/*
 * What the step's event reads or writes of a location that it touches: false if that is not known. The value of a
 * read-modify-write is the one that it writes.
 */
bool whole_value(const struct whole *w, uint32_t step, uint32_t loc, uint64_t *value);

/* Likewise what was there before it wrote. */
bool whole_was(const struct whole *w, uint32_t step, uint32_t loc, uint64_t *value);

#endif
