/* SPDX-License-Identifier: MIT */
/*
 * Which earlier operations of other lines an operation directly comes after: the edges of the conflict order.
 *
 * For each variable, lock and semaphore the last operations are kept (state/last.h); an operation gets an edge from
 * each that it conflicts with. Edges that follow from these and program order are not made: a write stands for the
 * reads and writes before it, a line's last read for its earlier ones.
 *   read:    from the last write                          write:  from the last write and the reads since
 *   acquire: from the last exclusive release and the shared ones since;  shared: from the exclusive one
 *   take:    from the last post of each line
 * Accesses make data edges, the others do not.
 *
 * Variables that are touched together, or one after the other at one time by one place, share what is kept of them
 * (state/shares.h) as long as nothing tells them apart.
 *
 * Cost: constant an operation, linear in the readers for a write. Memory: a cache line an object that is not shared.
 */
#ifndef FISSION_STATE_CONFLICTS_H
#define FISSION_STATE_CONFLICTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/seg.h"
#include "state/last.h"
#include "state/shares.h"

struct conflicts {
	struct arena *arena;
	struct shares variable;     /* struct last */
	struct seg lock, semaphore; /* likewise */
	void *self;
	void (*edge)(void *self, const struct mark *from, const struct event *e, bool data);
};

void conflicts_init(struct conflicts *c, struct arena *a, void *self,
	void (*edge)(void *self, const struct mark *from, const struct event *e, bool data));

static inline void conflicts_edge(struct conflicts *c, const struct mark *from, const struct event *e, bool data)
{
	if (from->at && mark_line(from) != e->line)
		c->edge(c->self, from, e, data);
}

static inline void conflicts_edges(struct conflicts *c, const struct last *l, const struct event *e, bool data)
{
	size_t n;
	const struct mark *m = last_readers(l, &n);

	for (size_t i = 0; i < n; i++)
		conflicts_edge(c, &m[i], e, data);
}

static inline void conflicts_read(struct conflicts *c, const struct event *e)
{
	struct last *x = shares_own(&c->variable, e->object, sizeof *x);

	conflicts_edge(c, &x->write, e, true);
	last_read(x, c->arena, mark_of(e));
}

static inline void conflicts_write(struct conflicts *c, const struct event *e)
{
	struct last *x = shares_own(&c->variable, e->object, sizeof *x);

	conflicts_edge(c, &x->write, e, true);
	conflicts_edges(c, x, e, true);
	last_write(x, c->arena, mark_of(e));
}

/*
 * An access of the past that is told late, after later accesses of its own line at most: it joins the last ones, and
 * makes no edges (runtime/filter.h says why none is missed).
 */
void conflicts_past(struct conflicts *c, const struct event *e);

/* The same for one of many variables that are accessed alike. */
void conflicts_read_one(struct conflicts *c, const struct event *e);
void conflicts_write_one(struct conflicts *c, const struct event *e);
void conflicts_past_one(struct conflicts *c, const struct event *e);

void conflicts_acquire(struct conflicts *c, const struct event *e);
void conflicts_acquire_shared(struct conflicts *c, const struct event *e);
void conflicts_release(struct conflicts *c, const struct event *e);
void conflicts_release_shared(struct conflicts *c, const struct event *e);
void conflicts_post(struct conflicts *c, const struct event *e);
void conflicts_take(struct conflicts *c, const struct event *e);

/* Variable y is a part of x: it has the same past. */
void conflicts_split(struct conflicts *c, uint64_t x, uint64_t y);

/* Variable x has no past. */
void conflicts_forget(struct conflicts *c, uint64_t x);

/*
 * Variable x will be accessed soon. To a compiler that sees the whole of it, it does nothing: a call would be left out.
 */
static inline __attribute__((always_inline)) void conflicts_fetch(const struct conflicts *c, uint64_t x)
{
	shares_fetch(&c->variable, x, sizeof(struct last));
}

/* Sooner; what was brought in is there. */
static inline __attribute__((always_inline)) void conflicts_fetch_rest(const struct conflicts *c, uint64_t x)
{
	const struct last *l = seg_hint(&c->variable.own, x, sizeof *l);

	if (l)
		last_fetch_rest(l);
}

#endif
