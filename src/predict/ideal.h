/* SPDX-License-Identifier: MIT */
/*
 * Which steps another order must have: a prefix of each thread, closed under what its steps need.
 *
 * The two threads of an instance go up to e3 and e2. Every step in it brings along the fork of its thread, the ends of
 * the threads that it joins, its barrier's arrivals, its semaphore's post, its wait's notify, and the writes that the
 * reads that are kept see. A section that is open where its thread stops is closed if anybody else wants the lock, by
 * going on to its release: all but those of e3's thread, which comes last, and, if `open` is asked for, of e2's.
 *
 * What a read sees is kept (ideal_keeps()), but for e2 and e3, whose values are what the other order changes, and for what
 * e2's thread reads behind e2 if e2 itself reads. Tier C keeps none.
 *
 * What happened before the window stays as it was: steps before `start` are done, in the order of the trace. So the
 * cost follows the window and not the trace.
 *
 * Representation: a node is a step of the ideal; nodes stand thread by thread, so that node and step are found from
 * each other by subtraction. Threads that have nodes are *active* and go by slots, from 0.
 */
#ifndef FISSION_PREDICT_IDEAL_H
#define FISSION_PREDICT_IDEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "predict/candidate.h"
#include "predict/whole.h"

enum tier { TIER_A, TIER_B, TIER_C, TIERS };

enum { DONE = UINT32_MAX - 1 }; /* instead of a node: it happened before the window, or is the initial value */

struct ideal {
	struct arena *arena;
	const struct whole *w;
	const struct instance *at;
	enum tier tier;
	bool open;       /* sections that are open at e2 stay so */
	uint32_t start;  /* the first step of the window */
	uint32_t *from, *upto; /* by thread: the part of its list that is in the ideal */
	uint32_t *base;  /* by thread: its first node */
	uint32_t *slot;  /* by thread */
	uint32_t *step;  /* by node */
	uint32_t nodes;
	uint32_t *thread; /* by slot */
	uint32_t active;
};

/* What is asked for. */
struct ideal_setup {
	const struct whole *w;
	const struct instance *at;
	enum tier tier;
	bool open;
	uint32_t window; /* events; 0: from the beginning of the trace */
};

/* False if there is none: something is needed that comes behind e3. */
bool ideal_make(struct ideal *d, struct arena *a, const struct ideal_setup *setup);

/* Whether the step, a read, is to see what it saw. */
bool ideal_keeps(const struct ideal *d, uint32_t step);

/* The node of a step that is in the ideal; DONE if it happened before. */
static inline uint32_t ideal_node(const struct ideal *d, uint32_t step)
{
	const struct step *s = &d->w->step[step];

	return step < d->start ? DONE : d->base[s->thread] + s->at - d->from[s->thread];
}

static inline bool ideal_has(const struct ideal *d, uint32_t step)
{
	return d->w->step[step].at < d->upto[d->w->step[step].thread];
}

static inline const struct step *ideal_step(const struct ideal *d, uint32_t node)
{
	return &d->w->step[d->step[node]];
}

#endif
