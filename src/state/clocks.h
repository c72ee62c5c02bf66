/* SPDX-License-Identifier: MIT */
/*
 * The happens-before order of a run as vector clocks: C[t] for each line t, and what locks, semaphores, barriers
 * and atomics pass on.
 *
 * Order comes from the release of a lock to its next acquire (readers' releases to writers only), from fork to start,
 * from end to join, from all arrivals at a barrier to each departure, from a post to the waits behind it, and from
 * atomics, in one of two ways:
 *   CLOCKS_C11     as the language says: a release to the acquire that reads it, fences, release sequences of
 *                  read-modify-writes. The order in which accesses that are not in it race.
 *   CLOCKS_CAUSES  from the store to every load that reads it, whatever the memory order: what a thread has read
 *                  from an atomic may decide what it does next. The order that a prediction must keep.
 * Nothing orders by condition variables beyond their mutex, nor by plain accesses.
 *
 * State: a clock a line, lock, semaphore and atomic variable. A line's own time starts at 1 and goes up after each
 * operation from which another line can learn (release, fork, arrival, post, atomic store, release fence).
 * Cost: constant or linear in the lines, at synchronisation only.
 */
#ifndef FISSION_STATE_CLOCKS_H
#define FISSION_STATE_CLOCKS_H

#include <stdbool.h>

#include "base/seg.h"
#include "event/event.h"
#include "state/vclock.h"

enum clocks_order { CLOCKS_C11, CLOCKS_CAUSES, CLOCKS_ORDERS };

struct clocks {
	struct arena *arena;
	enum clocks_order order;
	struct seg line;      /* struct line_clock by line */
	struct seg lock;      /* struct lock_clock by lock */
	struct seg semaphore; /* struct vclock */
	struct seg atomic;    /* struct vclock by variable */
};

/* A line's clock, and what its fences have to do with: C at its last release fence, what its relaxed loads read. */
struct line_clock {
	struct vclock now, released, read;
};

/* What a lock passes on. */
struct lock_clock {
	struct vclock exclusive, shared; /* of the last release of that side; shared: of all since the exclusive one */
	struct epoch last;               /* the last release of the exclusive side: who knows it knows all of `exclusive` */
	bool readers;                    /* there were shared releases since then; otherwise `shared` is void */
};

void clocks_init(struct clocks *c, struct arena *a, enum clocks_order order);

/* Slow path of clocks_of: the line's first time. */
__attribute__((cold, noinline)) void clocks_start(struct clocks *c, uint32_t line);

/* C[line]. */
static inline const struct vclock *clocks_of(struct clocks *c, uint32_t line)
{
	struct line_clock *l = seg_at(&c->line, line, sizeof *l);

	if (__builtin_expect(vclock_get(&l->now, line) == 0, 0))
		clocks_start(c, line);
	return &l->now;
}

/* The same, to be changed by clocks_lock and clocks_unlock. It stays where it is. */
static inline struct vclock *clocks_now(struct clocks *c, uint32_t line)
{
	return (struct vclock *)clocks_of(c, line);
}

/* The line's own time. */
static inline clock_time clocks_time(struct clocks *c, uint32_t line)
{
	return vclock_get(clocks_of(c, line), line);
}

void clocks_acquire(struct clocks *c, const struct event *e); /* either side, by e->kind */
void clocks_release(struct clocks *c, const struct event *e); /* either side, by e->kind */

/* The same by the clock of the line, for whoever has that at hand; for the exclusive side of locks without readers. */
static inline void clocks_lock(struct clocks *c, struct vclock *now, const struct event *e)
{
	const struct lock_clock *m = seg_at(&c->lock, e->object, sizeof *m);

	if (__builtin_expect(m->readers || e->kind == EVENT_ACQUIRE_SHARED, 0))
		clocks_acquire(c, e);
	else if (!epoch_within(m->last, now))
		vclock_join(now, c->arena, &m->exclusive);
}

static inline void clocks_unlock(struct clocks *c, struct vclock *now, const struct event *e)
{
	struct lock_clock *m = seg_at(&c->lock, e->object, sizeof *m);

	if (__builtin_expect(m->readers || e->kind == EVENT_RELEASE_SHARED || now->at[e->line] == UINT32_MAX, 0)) {
		clocks_release(c, e);
		return;
	}
	if (!vclock_copy_least(&m->exclusive, now))
		vclock_copy(&m->exclusive, c->arena, now);
	m->last = (struct epoch){e->line, now->at[e->line]++};
}

void clocks_fork(struct clocks *c, uint32_t parent, uint32_t child);
void clocks_join(struct clocks *c, uint32_t parent, uint32_t child);
void clocks_arrive(struct clocks *c, uint32_t line, struct vclock *round);
void clocks_depart(struct clocks *c, uint32_t line, const struct vclock *round);
void clocks_post(struct clocks *c, const struct event *e);
void clocks_take(struct clocks *c, const struct event *e);

/* An atomic access, or a fence; e->object is the variable. */
void clocks_atomic(struct clocks *c, const struct event *e);

/* Whether the atomic access e, which has yet to happen, will learn of the epoch from what it reads. */
bool clocks_reads(struct clocks *c, const struct event *e, struct epoch p);

/* Atomic variable y is a part of x and has the same past; variable x begins a new life. */
void clocks_split(struct clocks *c, uint64_t x, uint64_t y);
void clocks_forget(struct clocks *c, uint64_t x);

#endif
