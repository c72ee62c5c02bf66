/* SPDX-License-Identifier: MIT */
/*
 * Sets of locks as small numbers: equal sets have equal ids, and 0 is the empty one.
 *
 * Representation: each set once, its locks ascending; what an operation on two ids gave is remembered, so that asking
 * again is one look-up. Invariant: no two ids have the same locks. Sets live as long as the run: there are as many as
 * different sets were ever held or met, which is few.
 * Cost: one look-up where the question was asked before, otherwise linear in the sets.
 */
#ifndef FISSION_STATE_LOCKSET_H
#define FISSION_STATE_LOCKSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/seg.h"
#include "event/event.h"

typedef uint32_t lockset_id;

struct lockset {
	const sync_id *lock; /* ascending */
	uint32_t count;
};

struct locksets {
	struct arena *arena;
	struct seg set; /* struct lockset by id */
	struct seg single; /* lockset_id by lock: the set of it alone, 0 if it was not asked for yet */
	uint32_t count; /* ids are 0 to this */
	struct map by_content, added, removed, met;
};

void locksets_init(struct locksets *s, struct arena *a);

/* The set with one lock more, or less. */
lockset_id lockset_add(struct locksets *s, lockset_id set, sync_id m);
lockset_id lockset_remove(struct locksets *s, lockset_id set, sync_id m);

/* Slow path of lockset_meet. */
lockset_id lockset_meet_new(struct locksets *s, lockset_id a, lockset_id b);

/* The locks that are in both. */
static inline lockset_id lockset_meet(struct locksets *s, lockset_id a, lockset_id b)
{
	if (a == b || !a || !b)
		return a && b ? a : 0;
	return lockset_meet_new(s, a, b);
}

static inline bool lockset_disjoint(struct locksets *s, lockset_id a, lockset_id b)
{
	return lockset_meet(s, a, b) == 0;
}

/* Whether all locks of a are in b. */
static inline bool lockset_within(struct locksets *s, lockset_id a, lockset_id b)
{
	return lockset_meet(s, a, b) == a;
}

/* The locks of a set. */
struct lockset lockset_of(struct locksets *s, lockset_id set);

bool lockset_has(struct locksets *s, lockset_id set, sync_id m);

#endif
