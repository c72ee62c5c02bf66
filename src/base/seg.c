/* SPDX-License-Identifier: MIT */
#include "seg.h"

#include "base/arena.h"

void seg_init(struct seg *s, struct arena *a, size_t element)
{
	*s = (struct seg){.arena = a, .element = element};
}

uintptr_t seg_part_new(struct seg *s, unsigned p)
{
	uintptr_t at = (uintptr_t)arena_alloc(s->arena, s->element << p);
	uint64_t first = ((uint64_t)1 << p) - (1u << SEG_FIRST_BITS);

	return s->part[p] = at - first * s->element;
}
