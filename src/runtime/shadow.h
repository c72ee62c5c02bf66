/* SPDX-License-Identifier: MIT */
/*
 * What the ownership filter remembers of memory: for each 4 bytes of the program, a granule, two words, and for
 * each of these the place of its access.
 *
 * Representation. A word: ring 12 | time 44 | bytes 4 | flags 4; all zero in its upper 56 bits: there was no access.
 * A table of leaves by address >> LEAF_SHIFT; a leaf has the words of its granules, then their places, the lower halves
 * of program counters, then the same for blocks of granules that are accessed together (blocks.h). Leaves are mapped at
 * the first access to their memory and cost what is touched of them. One that cannot be mapped is NULL: its memory is
 * not filtered.
 *
 * What the words mean is filter.c's business.
 */
#ifndef FISSION_RUNTIME_SHADOW_H
#define FISSION_RUNTIME_SHADOW_H

#include <stddef.h>
#include <stdint.h>

enum {
	GRANULE = 4,
	LEAF_SHIFT = 24,
	LEAF_MEMORY = 1 << LEAF_SHIFT, /* of the program */
	LEAF_WORDS = LEAF_MEMORY * 4,  /* bytes of words: two of 8 a granule */
	BLOCK = 32,
	LEAF_BLOCKS = LEAF_WORDS + LEAF_MEMORY * 2, /* two words of 8 a block, then two places of 4, then its patience of 2 */
	LEAF_BLOCK_PLACES = LEAF_BLOCKS + LEAF_MEMORY / 2,
	LEAF_PATIENCE = LEAF_BLOCK_PLACES + LEAF_MEMORY / 4,
	LEAF_BYTES = LEAF_PATIENCE + LEAF_MEMORY / 16,
	ADDRESSES = 47, /* bits of a user's address */
	WINDOW = 1 << 14, /* of the program's memory: see shadow_populate */
};

/* NULL: there is no shadow at all. */
extern char **shadow_leaves __attribute__((visibility("hidden")));

/* Once in a process, before the first access. */
void shadow_start(void);

/* Slow path of shadow_words: a leaf for the address, or NULL. */
char *shadow_leaf(uintptr_t address) __attribute__((noinline));

static inline char *shadow_find(uintptr_t address)
{
	return address >> ADDRESSES || !shadow_leaves ? NULL : shadow_leaves[address >> LEAF_SHIFT];
}

/* The two words of the granule that holds the address. */
static inline uint64_t *shadow_words(char *leaf, uintptr_t address)
{
	return (uint64_t *)(leaf + (address & (LEAF_MEMORY - GRANULE)) * 4);
}

/* Their places. */
static inline uint32_t *shadow_places(char *leaf, uintptr_t address)
{
	return (uint32_t *)(leaf + LEAF_WORDS + (address & (LEAF_MEMORY - GRANULE)) * 2);
}

/*
 * A window, by its first address, is about to be touched from its start on: its words and places are made in one go.
 * Memory that is looked at before it is written, as words are, otherwise costs two page faults a page, the second of
 * which has to interrupt every processor that a thread of the program runs on. Its leaf must be there.
 */
void shadow_populate(uintptr_t address) __attribute__((noinline));

/* The memory begins a new life: allocated, freed, mapped, a new thread's stack. */
void shadow_forget(const void *address, size_t bytes);

/*
 * In the child of a fork: nothing of what is remembered was done by threads of this process. The memory stays where it is:
 * a signal handler that forks may have interrupted somebody who is about to look at it.
 */
void shadow_forked(void);

#endif
