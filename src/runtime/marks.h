/* SPDX-License-Identifier: MIT */
/*
 * Marks on the stack: the word that a function returns by is replaced by the address of one of our own pieces of code,
 * which notes that the function has returned and goes on where it was to go. While the mark is there, the activation
 * is the same; a second call from the same place has none.
 *
 * Representation: mark i is the code at marks_code + 16 * i and the entry marks_table[i]. The code knows nothing but its
 * own number, and the table is the process's: so a marked frame may be returned from by any thread, in a forked
 * child, or after its stack was moved away and back. It changes no register and no flag.
 *
 * Unwinders find their way through a mark by themselves: the code has unwind information that reads the return address
 * from the table. That is the net under exceptions and cancellation; where we see one coming, marks are taken off first.
 *
 * Invariant: a number is given out again only after its function has returned or its mark was taken off. One that was
 * left in another way stays taken, since nobody knows that its frame will not come back. When numbers run out, frames
 * stay unmarked.
 */
#ifndef FISSION_RUNTIME_MARKS_H
#define FISSION_RUNTIME_MARKS_H

#include <stdbool.h>
#include <stdint.h>

enum { MARKS = 1 << 15, MARK_BYTES = 16, MARKS_SPARE = 64 };

struct mark_entry {
	uint64_t original; /* where the function returns to */
	uint64_t live;     /* 0: it has */
};

extern struct mark_entry marks_table[MARKS] __attribute__((visibility("hidden")));
extern const unsigned char marks_code[] __attribute__((visibility("hidden")));

/* Numbers that a thread has at hand; 0 is none. */
struct marks_purse {
	uint32_t count;
	uint16_t spare[MARKS_SPARE];
};

/* The number of the mark that the word is; 0: it is none. */
static inline uint32_t marks_number(uint64_t word)
{
	uint64_t at = word - (uint64_t)(uintptr_t)marks_code;

	return at < (uint64_t)MARKS * MARK_BYTES ? (uint32_t)(at / MARK_BYTES) : 0;
}

/* The return address that the word stands for, which may be a mark. */
static inline uint64_t marks_original(uint64_t word)
{
	uint32_t number = marks_number(word);

	return number ? marks_table[number].original : word;
}

static inline bool marks_returned(uint32_t number)
{
	return !__atomic_load_n(&marks_table[number].live, __ATOMIC_RELAXED);
}

/* Whether this machine and process allow it at all: not where the processor keeps a second stack of its own. */
bool marks_allowed(void);

/* Marks the frame that returns by *slot. Returns the number, 0 if there is none left. */
uint32_t marks_put(struct marks_purse *p, uint64_t *slot);

/* Takes the mark off, if it is still there. The frame is one of the calling thread's. */
void marks_take(struct marks_purse *p, uint64_t *slot, uint32_t number);

/* The function has returned, or will never: the number may be given out again. */
void marks_free(struct marks_purse *p, uint32_t number);

/* At the end of a thread: its numbers are for others. */
void marks_empty(struct marks_purse *p);

/* In a forked child. */
void marks_forked(void);

#endif
