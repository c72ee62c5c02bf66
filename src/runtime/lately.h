/* SPDX-License-Identifier: MIT */
/*
 * What a thread itself remembers of the memory that it uses, beside the shadow that all threads share (MODE_FILTER).
 *
 * Why. A hook that asks the shadow looks at 16 bytes for each 4 of the program. And what two threads read has words
 * that each of them writes again and again: their lines of memory go to and fro between processors, which costs more
 * than everything else. What a thread keeps for itself is a quarter of that, and nobody else touches it.
 *
 * Representation. A table of leaves for each ring of this process, by address >> LEAF_SHIFT as in shadow.h; a leaf has
 * for each granule
 *   a mark    look 24 | bytes that were read 4 | bytes that were written 4: what the thread has done there at that
 *             look. The filter has heard of it: done again, it changes nothing. A look lasts as long as the thread's
 *             time stays what it is (self_set_now). There are 2^24; then marks are cleared.
 *   a note    the last read where two threads only read (READS of filter.h), as a word of the shadow, and its place.
 *             The shadow's own word is that of the first one. The later of both counts: so a note that was left from
 *             before somebody wrote there says nothing, since the shadow has a later word by now.
 *
 * While a thread has a lock it goes without: what it touches then is mostly what others touch as well, once or twice, and
 * marks and notes would be more lines of memory to fetch for each.
 *
 * Only the thread itself writes to it. Others read notes of threads that they have synchronised with; a thread that has
 * ended leaves them as they are, for the next one of its ring.
 *
 * Leaves are mapped at the first access to their memory and cost what is touched of them. Failure: without a leaf, and
 * where the address space has a limit, everything is as the shadow has it.
 */
#ifndef FISSION_RUNTIME_LATELY_H
#define FISSION_RUNTIME_LATELY_H

#include <stdint.h>

#include "runtime/self.h"
#include "runtime/shadow.h"

enum {
	LATELY_NOTES = LEAF_MEMORY, /* where they begin in a leaf, behind the marks */
	LATELY_BYTES = LATELY_NOTES + LEAF_MEMORY * 4,
};

struct note {
	uint64_t word;
	uint64_t place;
};

/* Of each ring, NULL: none. */
extern char **lately_tables[RINGS_MOST] __attribute__((visibility("hidden")));

/* A thread begins: its table, with no marks; or NULL. */
char **lately_begin(uint32_t ring);

/* The thread's leaf for the address; maps it if it must and can. */
char *lately_leaf(struct self *s, uintptr_t address) __attribute__((noinline));

/*
 * The marks, or notes, around the address are about to be touched: a window of them is made in one go, if it was not
 * yet. See shadow_populate.
 */
void lately_open_marks(char *leaf, uintptr_t address) __attribute__((noinline));
void lately_open_notes(char *leaf, uintptr_t address) __attribute__((noinline));

/* In the child of a fork: as shadow_forked. */
void lately_forked(void);

static inline char *lately_find(char **table, uintptr_t address)
{
	return address >> ADDRESSES || !table ? NULL : __atomic_load_n(&table[address >> LEAF_SHIFT], __ATOMIC_ACQUIRE);
}

static inline uint32_t *lately_marks(char *leaf, uintptr_t address)
{
	return (uint32_t *)(leaf + (address & (LEAF_MEMORY - GRANULE)));
}

static inline struct note *lately_notes(char *leaf, uintptr_t address)
{
	return (struct note *)(leaf + LATELY_NOTES + (address & (LEAF_MEMORY - GRANULE)) * 4);
}

/* Of reads at the same time the first one counts. */
static inline void lately_note(char *leaf, uintptr_t address, uint64_t word, uint32_t place)
{
	struct note *n = lately_notes(leaf, address);

	if (n->word == word)
		return;
	if (unlikely(!n->word))
		lately_open_notes(leaf, address);
	n->place = place;
	__atomic_store_n(&n->word, word, __ATOMIC_RELAXED);
}

#endif
