/* SPDX-License-Identifier: MIT */
#include "seg.h"

#include "base/arena.h"

void seg_init(struct seg *s, struct arena *a, size_t element)
{
	*s = (struct seg){.arena = a, .element = element};
}

void seg_part_new(struct seg *s, unsigned p)
{
	s->part[p] = arena_alloc(s->arena, s->element << (p + SEG_FIRST_BITS));
}
