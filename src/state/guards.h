/* SPDX-License-Identifier: MIT */
/*
 * What is held at a time, with both sides of reader-writer locks, as small numbers: equal ones have equal ids, and 0
 * is nothing.
 *
 * A guard is a pair of lock sets, all that is held and what of it is held exclusively. Two guards exclude each other
 * when a lock is in both and at least one of them has it exclusively: two readers do not. The smaller guard admits
 * whatever a larger one admits.
 *
 * Representation: each pair once; the sets are interned by state/lockset.h. Questions are answered from the sets
 * themselves, which are small, so that asking leaves nothing behind.
 * Cost: one look-up to make a guard; a question is linear in the locks.
 */
#ifndef FISSION_STATE_GUARDS_H
#define FISSION_STATE_GUARDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/seg.h"
#include "state/lockset.h"

typedef uint32_t guard_id;

enum { GUARD_FEW = 6 };

struct guard {
	lockset_id all, exclusive; /* exclusive is within all */
};

/* A guard with its locks at hand: in place, if they are few. */
struct guard_entry {
	struct guard content;
	struct lockset all, exclusive;
	sync_id few[GUARD_FEW];
};

struct guards {
	struct locksets *sets;
	struct seg guard; /* struct guard_entry by id */
	guard_id count;   /* ids are 0 to this */
	struct map by_content;
};

void guards_init(struct guards *g, struct arena *a, struct locksets *sets);

/* The guard of these sets. */
guard_id guard_of(struct guards *g, struct guard content);

static inline struct guard guard_content(struct guards *g, guard_id id)
{
	return ((const struct guard_entry *)seg_at(&g->guard, id, sizeof(struct guard_entry)))->content;
}

/* The guard with one lock more, or less. */
guard_id guard_add(struct guards *g, guard_id of, sync_id m, bool shared);
guard_id guard_remove(struct guards *g, guard_id of, sync_id m);

/* What is in both, on the weaker side. */
guard_id guard_meet(struct guards *g, guard_id a, guard_id b);

/* Slow paths of the two questions. */
bool guard_excludes_slowly(struct guards *g, guard_id a, guard_id b);
bool guard_within_slowly(struct guards *g, guard_id a, guard_id b);

/* Whether nobody can hold one while another thread holds the other. */
static inline bool guard_excludes(struct guards *g, guard_id a, guard_id b)
{
	return a && b && guard_excludes_slowly(g, a, b);
}

/* Whether b holds all that a holds. */
static inline bool guard_within(struct guards *g, guard_id a, guard_id b)
{
	return a == b || !a || (b && guard_within_slowly(g, a, b));
}

#endif
