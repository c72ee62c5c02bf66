/* SPDX-License-Identifier: MIT */
#include "shadow.h"

#include <stdbool.h>

#include "runtime/blocks.h"
#include "runtime/os.h"

enum {
	TABLE_BYTES = (1 << (ADDRESSES - LEAF_SHIFT)) * sizeof(char *),
	GIVE_BACK = 1 << 20, /* so much of the shadow is rather given back than cleared */
	PAGE = 4096,
	MAPPED = (LEAF_BYTES + PAGE + OS_HUGE - 1) / OS_HUGE * OS_HUGE, /* a leaf, with its element of the list */
	PAGE_OF_BLOCKS = PAGE * 2, /* of the program, which has a page of blocks' words */
};

char **shadow_leaves;

/* Which leaves there are, newest first: the table itself is too large to look through. */
static struct leaf_list {
	struct leaf_list *next;
	uintptr_t address;
} *list;

void shadow_start(void)
{
	if (!shadow_leaves)
		shadow_leaves = os_map(TABLE_BYTES, -1);
}

/* The list's element lies behind the leaf's blocks. */
static struct leaf_list *element_of(char *leaf)
{
	return (struct leaf_list *)(leaf + LEAF_BYTES);
}

static void enlist(char *leaf, uintptr_t address)
{
	struct leaf_list *l = element_of(leaf);

	l->address = address;
	l->next = __atomic_load_n(&list, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&list, &l->next, l, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

char *shadow_leaf(uintptr_t address)
{
	char **place, *none = NULL, *leaf;

	if (!shadow_leaves || address >> ADDRESSES)
		return NULL;
	place = &shadow_leaves[address >> LEAF_SHIFT];
	leaf = os_map_huge(MAPPED);
	if (!leaf)
		return __atomic_load_n(place, __ATOMIC_ACQUIRE);
	if (__atomic_compare_exchange_n(place, &none, leaf, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		enlist(leaf, address >> LEAF_SHIFT);
		return leaf;
	}
	os_unmap(leaf, MAPPED);
	return none;
}

void shadow_populate(uintptr_t address)
{
	char *leaf = shadow_find(address), *words = (char *)shadow_words(leaf, address);
	char *places = (char *)shadow_places(leaf, address);

	if ((address + WINDOW) & (LEAF_MEMORY - 1)) {
		os_grow(words + WINDOW * 4);
		os_grow(places + WINDOW * 2);
	}
	os_populate(words, WINDOW * 4);
	os_populate(places, WINDOW * 2);
}

/* Words [from, to): whole pages of a large stretch are given back to the system. */
static void clear(char *from, char *to)
{
	if (to - from >= GIVE_BACK) {
		char *first = (char *)(((uintptr_t)from + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
		char *last = (char *)((uintptr_t)to & ~(uintptr_t)(PAGE - 1));

		clear(from, first);
		clear(last, to);
		os_discard(first, (size_t)(last - first));
		return;
	}
	for (uint64_t *w = (uint64_t *)from; (char *)w < to; w++)
		__atomic_store_n(w, 0, __ATOMIC_RELAXED);
}

/*
 * Blocks that [from, to) has a part of are not live any more. Any granule may tell that one is: a racing write may have
 * taken the mark of another.
 */
static void freeze(char *leaf, uintptr_t from, uintptr_t to)
{
	for (uintptr_t at = from; at < to; at += GRANULE)
		if (__atomic_load_n(shadow_words(leaf, at), __ATOMIC_RELAXED) == BLOCK_MARK)
			block_freeze(leaf, at);
}

/* The same for a large stretch, the words of which are not looked at. */
static void freeze_large(char *leaf, uintptr_t from, uintptr_t to)
{
	uintptr_t first = (from + PAGE_OF_BLOCKS - 1) & ~(uintptr_t)(PAGE_OF_BLOCKS - 1);
	uintptr_t last = to & ~(uintptr_t)(PAGE_OF_BLOCKS - 1);

	freeze(leaf, from, first);
	freeze(leaf, last, to);
	os_discard(block_words(leaf, first), (last - first) / 2);
}

static void forget(char *leaf, uintptr_t from, uintptr_t to)
{
	char *first = (char *)shadow_words(leaf, from), *last = (char *)(shadow_words(leaf, to - 1) + 2);

	(last - first >= GIVE_BACK ? freeze_large : freeze)(leaf, from, to);
	clear(first, last);
}

void shadow_forget(const void *address, size_t bytes)
{
	uintptr_t from = (uintptr_t)address & ~(uintptr_t)(GRANULE - 1), to = (uintptr_t)address + bytes;

	if (!shadow_leaves || to < from || to >> ADDRESSES)
		return;
	while (from < to) {
		uintptr_t end = (from | (LEAF_MEMORY - 1)) + 1;
		char *leaf = shadow_find(from);

		if (end > to)
			end = to;
		if (leaf)
			forget(leaf, from, end);
		from = end;
	}
}

void shadow_forked(void)
{
	for (const struct leaf_list *l = list; l; l = l->next)
		os_discard_huge(shadow_leaves[l->address], LEAF_BYTES);
}
