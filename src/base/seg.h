/* SPDX-License-Identifier: MIT */
/*
 * A table that grows without moving: element i stays where it is for as long as the table lives.
 *
 * Representation: the part of element i is the highest bit of i + 16, so part p has the 2^p elements from 2^p - 16 on;
 * it is kept as the place where element 0 would be, so that nothing has to be subtracted.
 * Invariant: an element that was never written is all zero; parts are made on first touch.
 * Cost: five instructions and one load an access; at most twice the memory of an exact array; no copying.
 */
#ifndef FISSION_BASE_SEG_H
#define FISSION_BASE_SEG_H

#include <stddef.h>
#include <stdint.h>

struct arena;

enum { SEG_FIRST_BITS = 4, SEG_PARTS = 44 };

struct seg {
	struct arena *arena;
	size_t element;
	uintptr_t part[SEG_PARTS]; /* 0: not made yet */
};

void seg_init(struct seg *s, struct arena *a, size_t element);

/* Slow path of seg_at: makes the part, and returns it. Never a part of whoever calls seg_at: that has more to do. */
__attribute__((cold, noinline)) uintptr_t seg_part_new(struct seg *s, unsigned p);

static inline unsigned seg_part_of(uint64_t i)
{
	return 63 - (unsigned)__builtin_clzll(i + (1u << SEG_FIRST_BITS));
}

/* Element i, made if need be. `element` is the size given to seg_init, repeated so that it is a constant here. */
static inline void *seg_at(struct seg *s, uint64_t i, size_t element)
{
	uintptr_t part = s->part[seg_part_of(i)];

	if (__builtin_expect(!part, 0))
		part = seg_part_new(s, seg_part_of(i));
	return (void *)(part + i * element);
}

/* Where element i is or will be, for prefetching only; NULL if its part is not made yet. */
static inline const void *seg_hint(const struct seg *s, uint64_t i, size_t element)
{
	uintptr_t part = s->part[seg_part_of(i)];

	return part ? (const void *)(part + i * element) : NULL;
}

#endif
