/* SPDX-License-Identifier: MIT */
#include "sparse.h"

#include "base/arena.h"

void *sparse_use(struct sparse *s, struct arena *a, uint32_t i, size_t element)
{
	uint32_t at = i / SPARSE_PAGE;
	struct sparse_page *p;

	if (at >= s->pages) {
		s->page = arena_grow(a, s->page, s->pages * sizeof p, (at + 1) * sizeof p);
		s->pages = at + 1;
	}
	if (!s->page[at])
		s->page[at] = arena_alloc(a, sizeof *p + SPARSE_PAGE * element);
	p = s->page[at];
	p->used |= (uint64_t)1 << (i % SPARSE_PAGE);
	return p->element + i % SPARSE_PAGE * element;
}
