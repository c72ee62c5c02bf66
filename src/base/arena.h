/* SPDX-License-Identifier: MIT */
/*
 * Memory that ends with its run.
 *
 * Representation: blocks of a power of two of bytes, cut from larger chunks that the `more` function hands over
 * (zeroed). Small requests are cut from the current chunk, large ones are chunks of their own. A block that was
 * outgrown goes onto the free list of its size class and is cut again for the next request of that size, so
 * arrays that double cost at most twice their final size.
 *
 * Invariant: every block handed out is zeroed and aligned to 16 bytes, to 64 from 64 bytes on; each free-list
 * entry of class c has exactly 2^c bytes.
 *
 * Cost: constant, plus the zeroing of recycled blocks. Threads: one arena belongs to one thread.
 * Failure: `more` does not return on failure in the tool; nothing here checks for NULL.
 */
#ifndef FISSION_BASE_ARENA_H
#define FISSION_BASE_ARENA_H

#include <stddef.h>

struct arena_chunk;

struct arena {
	void *(*more)(size_t bytes);          /* zeroed memory, 64-aligned */
	void (*less)(void *p, size_t bytes);  /* takes it back */
	struct arena_chunk *chunks;
	char *next, *limit;                   /* the free rest of the newest small chunk */
	size_t bytes;                         /* all that `more` has handed over */
	void *recycled[64];                   /* by size class */
};

/* An empty arena on the process's own memory; running out of it ends the tool with STATUS_UNFIT. */
void arena_init(struct arena *a);

/* Gives everything back. Every pointer into the arena is dead afterwards. */
void arena_free(struct arena *a);

/* At least `bytes` zeroed bytes, owned by the arena. */
void *arena_alloc(struct arena *a, size_t bytes);

/* Moves a block of `old_bytes` into one of `new_bytes`; the rest is zeroed and the old block recycled. */
void *arena_grow(struct arena *a, void *old, size_t old_bytes, size_t new_bytes);

/* Hands a block of `bytes` back for the next request of its size class. */
void arena_recycle(struct arena *a, void *block, size_t bytes);

/* A copy of `length` bytes of text with a NUL behind it. */
char *arena_text(struct arena *a, const char *text, size_t length);

/* Slow path of arena_reserve. */
__attribute__((cold, noinline)) void *arena_reserve_more(struct arena *a, void *array, size_t *capacity, size_t count, size_t element);

/*
 * Makes room for element number `count` of an array: returns it, grown if need be. `capacity` is in elements
 * and is kept by the caller beside the array.
 */
static inline void *arena_reserve(struct arena *a, void *array, size_t *capacity, size_t count, size_t element)
{
	return __builtin_expect(count < *capacity, 1) ? array : arena_reserve_more(a, array, capacity, count, element);
}

#endif
