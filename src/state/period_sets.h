/* SPDX-License-Identifier: MIT */
/*
 * Sets of periods of one thread as small numbers, and whether two threads' sets have periods that are concurrent.
 *
 * Representation: a set is its latest period and the set of the others, which are earlier; each such pair is stored
 * once, so that whatever was done in the same periods has the same number. What was asked of two sets is remembered.
 * 0 is the empty set. Where periods are not looked at (period_sets_init without them), the members are thread ids, and
 * different threads are concurrent.
 * Cost: constant to add; a question linear in the sets, the first time.
 */
#ifndef FISSION_STATE_PERIOD_SETS_H
#define FISSION_STATE_PERIOD_SETS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/seg.h"
#include "state/periods.h"

typedef uint32_t period_set;

struct period_node {
	period_set rest;
	period_id last;
};

struct period_sets {
	struct periods *periods; /* NULL: members are threads */
	struct seg node;         /* struct period_node by set */
	period_set count;
	struct map by_content, asked;
};

void period_sets_init(struct period_sets *s, struct arena *a, struct periods *periods);

/* The latest period of a set; 0 of the empty one. */
static inline period_id period_set_last(struct period_sets *s, period_set set)
{
	return ((struct period_node *)seg_at(&s->node, set, sizeof(struct period_node)))->last;
}

/* Slow path of period_set_add. */
period_set period_set_add_new(struct period_sets *s, period_set set, period_id p);

/* The set with p, which is not before its latest. */
static inline period_set period_set_add(struct period_sets *s, period_set set, period_id p)
{
	return set && period_set_last(s, set) == p ? set : period_set_add_new(s, set, p);
}

/* Whether a member of one can run at the same time as a member of the other. */
bool period_sets_concurrent(struct period_sets *s, period_set a, period_set b);

/* Whether a member of the set can run after the start of period `first` and before the end of `last`, its thread's. */
bool period_set_fits(struct period_sets *s, period_set set, period_id first, period_id last);

#endif
