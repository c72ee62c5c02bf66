/* SPDX-License-Identifier: MIT */
/*
 * Sets of periods as small numbers: equal sets have equal numbers, 0 is the empty one. And whether two sets have
 * periods that are concurrent.
 *
 * Representation: for each line that has periods in the set a *chain*: its latest period and the chain of the others,
 * which are earlier; each such pair is stored once. A set is the array of its lines' chains, by line, stored once too. So
 * whatever was done by the same threads in the same periods has the same number, and there are few. What was asked
 * is remembered. Where periods are not looked at (period_sets_init without them), the members are thread ids, and
 * different threads are concurrent.
 * Cost: one look-up to add or to ask again; the first time linear in the lines, a question also in the periods.
 */
#ifndef FISSION_STATE_PERIOD_SETS_H
#define FISSION_STATE_PERIOD_SETS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/seg.h"
#include "state/periods.h"

typedef uint32_t period_set;

struct period_chain {
	uint32_t rest;
	period_id last;
};

struct period_members {
	const uint32_t *chain; /* by line, ascending */
	uint32_t count;
	uint64_t early; /* a bit for each of the first periods that are in it */
};

struct period_sets {
	struct arena *arena;
	struct periods *periods; /* NULL: members are threads */
	struct seg chain;        /* struct period_chain */
	uint32_t chains;
	struct seg set; /* struct period_members */
	period_set count;
	struct map by_chain, by_content, added, asked;
};

void period_sets_init(struct period_sets *s, struct arena *a, struct periods *periods);

/* The set with p, which must not be before a period of its line that is in the set. */
period_set period_set_add(struct period_sets *s, period_set set, period_id p);

/* Whether p is in the set; if it is not the latest of its line there, the answer may be no. */
static inline bool period_set_has(struct period_sets *s, period_set set, period_id p)
{
	if (__builtin_expect(p < 64, 1))
		return ((const struct period_members *)seg_at(&s->set, set, sizeof(struct period_members)))->early >>
			p & 1;
	return set && map_get(&s->added, (uint64_t)set << 32 | p) == set;
}

/* Whether a member of one can run at the same time as a member of the other. */
bool period_sets_concurrent(struct period_sets *s, period_set a, period_set b);

/*
 * Whether a member of the second set can run after the start of one of the first and before the end of `last`, which is
 * a later period of the same line.
 */
bool period_sets_fit(struct period_sets *s, period_set first, period_id last, period_set between);

#endif
