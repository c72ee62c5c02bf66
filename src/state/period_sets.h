/* SPDX-License-Identifier: MIT */
/*
 * Sets of periods as small numbers: equal sets have equal numbers, 0 is the empty one. And whether two sets have
 * periods that are concurrent.
 *
 * Representation: for each line that has periods in the set a *chain*: its latest period and the chain of the others,
 * which are earlier; each such pair is stored once. A set is the array of its lines' chains, by line, stored once too.
 * So whatever was done by the same threads in the same periods has the same number, and there are few. What was asked
 * is remembered. Where periods are not looked at (period_sets_init without them), the members are thread ids, and
 * different threads are concurrent.
 *
 * While threads come and go there are many sets that grow. For these there is the *track*: an array of chains of its
 * own, which becomes a set when it is asked for. Cost: to a set, one look-up to add or to ask again, the first time
 * linear in the lines; to a track, the logarithm of its lines. A question, the first time, linear in the periods.
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
	uint32_t line; /* of all of them */
};

struct period_members {
	const uint32_t *chain; /* by line, ascending */
	uint32_t count;
};

struct period_track {
	union {
		uint32_t one;   /* if count is 1 */
		uint32_t *chain; /* by line, ascending */
	};
	uint32_t count, capacity;
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

/* Whether a member of one can run at the same time as a member of the other. */
bool period_sets_concurrent(struct period_sets *s, period_set a, period_set b);

/*
 * Whether a member of the second set can run after the start of one of the first and before the end of `last`, which is
 * a later period of the same line.
 */
bool period_sets_fit(struct period_sets *s, period_set first, period_id last, period_set between);

/* Adds p, which must not be before a period of its line that is in the track. */
void period_track_add(struct period_sets *s, struct period_track *t, period_id p);

/* Whether p is the latest of its line in the track. */
bool period_track_has(struct period_sets *s, const struct period_track *t, period_id p);

/* Whether there is but one period in it, and that is p. */
bool period_track_is(struct period_sets *s, const struct period_track *t, period_id p);

/* The set of what is in the track. */
period_set period_track_set(struct period_sets *s, const struct period_track *t);

/* A track of its own with the same in it; and its memory back. */
struct period_track period_track_copy(struct period_sets *s, const struct period_track *t);
void period_track_drop(struct period_sets *s, struct period_track *t);

#endif
