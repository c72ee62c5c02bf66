/* SPDX-License-Identifier: MIT */
/*
 * What a thread itself remembers of the memory that it uses, beside the shadow that all threads share (MODE_FILTER).
 *
 * Why. A hook that asks the shadow looks at 16 bytes for each 4 of the program. And what two threads read has words
 * that each of them writes again and again: their lines of memory go to and fro between processors, which costs more
 * than everything else. What a thread keeps for itself nobody else touches.
 *
 * Marks say what the thread has done at this look. The filter has heard of it: done again, it changes nothing. A look
 * lasts as long as the thread's time stays what it is (self_set_now). One mark is of one access: its address, size, and
 * whether it was a write. They are in a table of the thread, by the low bits of the address, each in the one place where
 * it can be; what else has that place is forgotten. So to ask for it takes so little that gcc's code has it at each
 * access (driver/fission/hooks.h). The table begins with all that is needed for that; an empty one, which is all zeros,
 * says that every mark is in the same place, and has none, but for the address 0, where no memory is.
 *   a mark    address ^ look: the look has those bits that an aligned user's address has not, 47 to 62, and some that
 *             are the mark's place, 4 to 11. The former are never 0 (a mark of 0 is none). Bit 63: it was a write, of
 *             all bytes of its granules, so that a read of the same is nothing new either. There are 2^24 looks, less a
 *             few; then the table is cleared.
 *
 * Notes are the last reads where two threads only read (READS of filter.h), for each granule as a word of the shadow,
 * and its place. The shadow's own word is that of the first one. The later of both counts: so a note that was left from
 * before somebody wrote there says nothing, since the shadow has a later word by now. A table of leaves for each ring of
 * this process has them, by address >> LEAF_SHIFT as in shadow.h.
 *
 * While a thread has a lock it makes no notes, and has room for few marks: what it touches then is mostly what others touch
 * as well, once or twice, and notes and a large table would be more lines of memory to fetch for each. What it does again
 * and again, it finds in a table that stays in the processor's first cache. That is the start of the same one.
 *
 * Only the thread itself writes to it. Others read notes of threads that they have synchronised with; a thread that has
 * ended leaves them as they are, for the next one of its ring.
 *
 * Tables and leaves are mapped when they are needed and cost what is touched of them. Failure: without them, and where
 * the address space has a limit, everything is as the shadow has it.
 */
#ifndef FISSION_RUNTIME_LATELY_H
#define FISSION_RUNTIME_LATELY_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/self.h"
#include "runtime/shadow.h"

enum { LATELY_BYTES = LEAF_MEMORY * 4 };

/* Where marks are in the table: of each size from where on, of how much memory, and how many bytes for one of that. */
enum {
	MARKS_4 = 1 << 12, /* behind the head, and so far that all are asked for by code of the same length */
	MARKS_8 = MARKS_4 + (1 << 22),
	MARKS_16 = MARKS_8 + (1 << 22),
	MARKS_1 = MARKS_16 + (1 << 18), /* of parts of a granule: those of reads, and behind them of writes */
	MARKS_2 = MARKS_1 + (2 << 18),
	MARKS_BYTES = MARKS_2 + (2 << 18),

	MARKS_1_OF = 0x7fff, /* bits of the address */
	MARKS_2_OF = 0xfffe,
	MARKS_4_OF = 0x1ffffc,
	MARKS_8_OF = 0x3ffff8,
	MARKS_16_OF = 0x3fff0,
	MARKS_NARROW = 0xfff, /* those of them that count with a lock; all that a look has must be among them */
	MARKS_PART = 1 << 18,
};

struct note {
	uint64_t word;
	uint64_t place;
};

/* Of each ring, NULL: none. */
extern char **lately_tables[RINGS_MOST] __attribute__((visibility("hidden")));

/* A thread begins: its table of leaves, or NULL; and of marks, with none in it. */
char **lately_begin(uint32_t ring);
struct marks_head *lately_marks_begin(uint32_t ring);

/* The empty table. */
union marks {
	struct marks_head head;
	char bytes[MARKS_BYTES];
};

extern union marks lately_nothing __attribute__((visibility("hidden")));

/* The thread's leaf for the address; maps it if it must and can. */
char *lately_leaf(struct self *s, uintptr_t address) __attribute__((noinline));

/*
 * The notes around the address are about to be touched: a window of them is made in one go, if it was not yet. See
 * shadow_populate.
 */
void lately_open_notes(char *leaf, uintptr_t address) __attribute__((noinline));

/* In the child of a fork: as shadow_forked. */
void lately_forked(void);

static inline char *lately_find(char **table, uintptr_t address)
{
	return address >> ADDRESSES || !table ? NULL : __atomic_load_n(&table[address >> LEAF_SHIFT], __ATOMIC_ACQUIRE);
}

/*
 * Room for few marks, or for all. A mark says of which address it is, but for bits that say where it is as well: so one is
 * right wherever it is found.
 */
static inline void lately_narrow(struct marks_head *m, bool narrow)
{
	uint32_t bits = narrow ? MARKS_NARROW : UINT32_MAX;

	m->of[0] = MARKS_1_OF & bits;
	m->of[1] = MARKS_2_OF & bits;
	m->of[2] = MARKS_4_OF & bits;
	m->of[3] = MARKS_8_OF & bits;
	m->of[4] = MARKS_16_OF & bits;
}

/* Where the mark of an access is, that is aligned. */
static inline __attribute__((always_inline)) uint64_t *lately_mark(struct marks_head *head, uintptr_t address,
	size_t size, bool write)
{
	char *marks = (char *)head;

	switch (size) {
	case 1: return (uint64_t *)(marks + MARKS_1 + write * MARKS_PART + (address & head->of[0]) * 8);
	case 2: return (uint64_t *)(marks + MARKS_2 + write * MARKS_PART + (address & head->of[1]) * 4);
	case 4: return (uint64_t *)(marks + MARKS_4 + (address & head->of[2]) * 2);
	case 8: return (uint64_t *)(marks + MARKS_8 + (address & head->of[3]));
	default: return (uint64_t *)(marks + MARKS_16 + (address & head->of[4]));
	}
}

static inline struct note *lately_notes(char *leaf, uintptr_t address)
{
	return (struct note *)(leaf + (address & (LEAF_MEMORY - GRANULE)) * 4);
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
