/* SPDX-License-Identifier: MIT */
/*
 * A table with holes: numbers from 1 on to elements, of which only those near used ones take memory.
 *
 * Representation: pages of 64 elements, made when one of them is used first; a page has a bit an element that says
 * whether it is used. Invariant: an element that was never used is all zero; one that was dropped keeps its bytes
 * until it is used again. Addresses stay good.
 * Cost: two loads to find an element; to go through the used ones, a word for 64.
 */
#ifndef FISSION_BASE_SPARSE_H
#define FISSION_BASE_SPARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum { SPARSE_PAGE = 64 };

struct sparse_page {
	_Alignas(16) uint64_t used;
	_Alignas(16) char element[];
};

struct sparse {
	struct sparse_page **page;
	uint32_t pages;
};

/* Element i, if it is used; otherwise NULL. */
static inline void *sparse_find(const struct sparse *s, uint32_t i, size_t element)
{
	struct sparse_page *p = i / SPARSE_PAGE < s->pages ? s->page[i / SPARSE_PAGE] : NULL;

	if (!p || !(p->used >> (i % SPARSE_PAGE) & 1))
		return NULL;
	return p->element + i % SPARSE_PAGE * element;
}

/* Element i, used from now on. */
void *sparse_use(struct sparse *s, struct arena *a, uint32_t i, size_t element);

/* Element i, which must be used, is no longer. */
static inline void sparse_drop(struct sparse *s, uint32_t i)
{
	s->page[i / SPARSE_PAGE]->used &= ~((uint64_t)1 << (i % SPARSE_PAGE));
}

/* The first used number from i on, or 0 if there is none. */
static inline uint32_t sparse_next(const struct sparse *s, uint32_t i)
{
	for (uint32_t p = i / SPARSE_PAGE; p < s->pages; p++, i = 0) {
		uint64_t rest = s->page[p] ? s->page[p]->used >> (i % SPARSE_PAGE) << (i % SPARSE_PAGE) : 0;

		if (rest)
			return p * SPARSE_PAGE + (uint32_t)__builtin_ctzll(rest);
	}
	return 0;
}

#endif
