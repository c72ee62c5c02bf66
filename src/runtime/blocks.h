/* SPDX-License-Identifier: MIT */
/*
 * Blocks: one pair of words for 32 bytes of the program, eight granules, which are always accessed together
 * (MODE_FILTER).
 *
 * Why. A message that one thread copies into a buffer and another one out of it has 16 bytes of words for each 4 of its
 * own. These lines of memory go to and fro between processors, which costs more than everything else, and they all say
 * the same.
 *
 * Representation. A block has words and places as a granule has (shadow.h), behind those of the granules in their leaf.
 * It is live if its second word has BLOCK_LIVE, which no granule's second word has. Then each of its granules has
 * BLOCK_MARK for its first word and stands for nothing by itself; to the quick answers (filter.h), which know nothing of
 * blocks, that is a word of nobody, as PRECISE is. A block that is not live any more is frozen: its words stay what they
 * are, and are those of the granules that have the mark still. So whoever wants a single granule freezes the block, which
 * is one bit, and takes the words out for this granule alone.
 *
 * Who may do what when. A block becomes live by a write to all of it, after which all its granules have the same words:
 * in a program without races nobody else is at any of them. The block's words come first, then the marks, so that who
 * interrupts this finds the former behind each mark; where he has left words of his own, the block does not become live.
 * Nothing else makes a block live: all other changes compare both
 * words and swap them in one instruction. It is locked for reads, since two readers may be there at once, and one of
 * them may freeze the block; for a write there is nobody but its own thread's signal handlers. Words of a frozen block do
 * not change. A granule's mark becomes words by compare-and-swap as well, so that of two who take them out one does.
 * Whoever has seen a frozen block can be late with it only if the block has become live since, which takes a write that
 * races with it; then the granule gets words that were true before. Likewise a write that races with a reader who freezes
 * may make the block live again, whose granule then has words beside it. An edge can be lost by either, and none is made:
 * all these words are true, and those of a life that is over go with it: any mark that is left tells that there is a block.
 * Places are beside words, and not changed together with them: of two readers that are at one granule at the same time,
 * one may leave the place of the other.
 * What readers have noted for themselves (lately.h) is of granules: whoever would note something freezes the block. So
 * while it is live its words are the last.
 *
 * Patience. Memory that is accessed as a whole and by parts in turn would be put together and taken apart for each. So a
 * block becomes live at the second write that it could have, and each time that it is taken apart it has to wait for
 * twice as many.
 *
 * Cost: 24 bytes for each 32 of the program that are written to as a whole by different threads, and 2 for patience.
 */
#ifndef FISSION_RUNTIME_BLOCKS_H
#define FISSION_RUNTIME_BLOCKS_H

#include <stdbool.h>

#include "runtime/shadow.h"

enum {
	BLOCK_LIVE = 2,
	BLOCK_MARK = 12,
	BLOCK_GRANULES = BLOCK / GRANULE,
	BLOCK_WAITS = 2,    /* for so many writes at first */
	BLOCK_DOUBLED = 10, /* times, at most */
	BLOCK_COUNT_BITS = 12,
};

static inline uint64_t *block_words(char *leaf, uintptr_t address)
{
	return (uint64_t *)(leaf + LEAF_BLOCKS + (address & (LEAF_MEMORY - BLOCK)) / 2);
}

static inline uint32_t *block_places(char *leaf, uintptr_t address)
{
	return (uint32_t *)(leaf + LEAF_BLOCK_PLACES + (address & (LEAF_MEMORY - BLOCK)) / 4);
}

/* How often it was taken apart; and, in the lower bits, the writes since. */
static inline uint16_t *block_patience(char *leaf, uintptr_t address)
{
	return (uint16_t *)(leaf + LEAF_PATIENCE + (address & (LEAF_MEMORY - BLOCK)) / 16);
}

static inline bool block_is_live(char *leaf, uintptr_t address)
{
	return __atomic_load_n(&block_words(leaf, address)[1], __ATOMIC_RELAXED) & BLOCK_LIVE;
}

/* Returns whether it was live. */
static inline bool block_freeze(char *leaf, uintptr_t address)
{
	return block_is_live(leaf, address) &&
	       __atomic_fetch_and(&block_words(leaf, address)[1], ~(uint64_t)BLOCK_LIVE, __ATOMIC_ACQ_REL) & BLOCK_LIVE;
}

/* The same, because it is accessed by parts. */
static inline void block_break(char *leaf, uintptr_t address)
{
	uint16_t *p = block_patience(leaf, address), times = *p >> BLOCK_COUNT_BITS;

	if (block_freeze(leaf, address))
		*p = (uint16_t)((times < BLOCK_DOUBLED ? times + 1 : times) << BLOCK_COUNT_BITS);
}

/* One more write after which it could be live: whether it shall be. */
static inline bool block_is_due(char *leaf, uintptr_t address)
{
	uint16_t *p = block_patience(leaf, address), times = *p >> BLOCK_COUNT_BITS;
	bool due = (++*p & ((1 << BLOCK_COUNT_BITS) - 1)) >= BLOCK_WAITS << times;

	if (due)
		*p = (uint16_t)(times << BLOCK_COUNT_BITS);
	return due;
}

#endif
