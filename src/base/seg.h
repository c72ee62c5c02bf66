/* SPDX-License-Identifier: MIT */
/*
 * A table that grows without moving: element i stays where it is for as long as the table lives.
 *
 * Representation: part p holds 16 * 2^p elements, so part and offset follow from the highest bit of i + 16.
 * Invariant: an element that was never written is all zero; parts are made on first touch.
 * Cost: five instructions and one load an access; at most twice the memory of an exact array; no copying.
 */
#ifndef FISSION_BASE_SEG_H
#define FISSION_BASE_SEG_H

#include <stddef.h>
#include <stdint.h>

struct arena;

enum { SEG_FIRST_BITS = 4, SEG_PARTS = 40 };

struct seg {
	struct arena *arena;
	size_t element;
	char *part[SEG_PARTS];
};

void seg_init(struct seg *s, struct arena *a, size_t element);

/* Slow path of seg_at: makes the part. */
void seg_part_new(struct seg *s, unsigned p);

static inline unsigned seg_part_of(uint64_t i)
{
	return 63 - SEG_FIRST_BITS - (unsigned)__builtin_clzll(i + (1u << SEG_FIRST_BITS));
}

/* Element i, made if need be. `element` is the size given to seg_init, repeated so that it is a constant here. */
static inline void *seg_at(struct seg *s, uint64_t i, size_t element)
{
	unsigned p = seg_part_of(i);

	if (__builtin_expect(!s->part[p], 0))
		seg_part_new(s, p);
	return s->part[p] + (i + (1u << SEG_FIRST_BITS) - ((uint64_t)1 << (p + SEG_FIRST_BITS))) * element;
}

/* Where element i is or will be, for prefetching only; NULL if its part is not made yet. */
static inline const void *seg_hint(const struct seg *s, uint64_t i, size_t element)
{
	unsigned p = seg_part_of(i);

	if (!s->part[p])
		return NULL;
	return s->part[p] + (i + (1u << SEG_FIRST_BITS) - ((uint64_t)1 << (p + SEG_FIRST_BITS))) * element;
}

#endif
