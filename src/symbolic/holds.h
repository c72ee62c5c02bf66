/* SPDX-License-Identifier: MIT */
/*
 * The locks that a thread holds at a moment, as small numbers: equal sets have equal ids, 0 is the empty one.
 *
 * A lock is held by an *acquisition*, not by its address alone: two accesses are one step only if the same acquisition
 * spans them. Acquisitions of the run count up from 1; those that only could be are numbered by the instruction that
 * makes them, with HOLDS_SUPPOSED set, so that a way that goes round a loop comes back to the same set.
 *
 * A lock whose address is not known has address 0 and matches every lock of its class: where it lies in what kind of
 * structure. Class 0 is any.
 */
#ifndef FISSION_SYMBOLIC_HOLDS_H
#define FISSION_SYMBOLIC_HOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

#define HOLDS_SUPPOSED (UINT64_C(1) << 63)

struct held_lock {
	uint64_t address;     /* 0: not known */
	uint64_t acquisition;
	uint64_t class;
	uint32_t depth;       /* how often it was taken */
	uint32_t shared;
};

struct holds_set {
	const struct held_lock *at;
	size_t count;
	uint32_t next; /* of the same hash: its id, or 0 */
};

struct holds {
	struct arena *arena;
	struct holds_set *set; /* by id */
	size_t count, room;
	struct map by_hash;
};

void holds_init(struct holds *h, struct arena *a);

/* The set with the lock taken once more: by another acquisition only if it was not held at all. */
uint32_t holds_take(struct holds *h, uint32_t id, const struct held_lock *lock);

/*
 * The set with the lock given back once. One whose address is not known gives back one of its class whose address is
 * not known either. Nothing changes if there is none.
 */
uint32_t holds_give(struct holds *h, uint32_t id, const struct held_lock *lock);

/* The set without the lock, however often it was taken. */
uint32_t holds_drop(struct holds *h, uint32_t id, uint64_t address);

static inline struct holds_set holds_at(const struct holds *h, uint32_t id)
{
	return h->set[id];
}

/* The lock of that address in the set, or NULL. */
const struct held_lock *holds_find(const struct holds *h, uint32_t id, uint64_t address);

/* Whether the lock may be the same as one in the set, in a way that keeps them apart. */
bool holds_excludes(const struct holds *h, uint32_t id, const struct held_lock *lock);

/* Whether both sets have locks of the same addresses. */
bool holds_alike(const struct holds *h, uint32_t x, uint32_t y);

#endif
