/* SPDX-License-Identifier: MIT */
/*
 * Where the accesses of a trace live in the program that performs it.
 *
 * A store is a piece of the program's memory: number 0 is the array for addresses, the others are globals for
 * named variables and blocks for allocations. An `alloc` moves its bytes, or its name, to a new block, because its
 * memory begins a new life; accesses behind it go to the block, also those behind a `free`.
 *
 * Representation: the newest store by object id; for addresses the disjoint segments that are in blocks, sorted;
 * the pages of the array that are touched, which the program has one behind the other. Accesses keep their
 * alignment up to 16 bytes, and what was adjacent in one store stays so.
 *
 * Values: eight bytes a cell, with masks of which bytes were written, and which of these by a write with a value.
 * What is read with a value before it was written gives the initial contents. Only what the trace itself
 * determines in this way is checked when the program runs.
 *
 * Cost: a look-up an access, logarithmic in the blocks; linear in the blocks for an `alloc`.
 */
#ifndef FISSION_CLI_PROGRAM_MEMORY_H
#define FISSION_CLI_PROGRAM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/seg.h"
#include "event/event.h"

struct arena;

enum store_kind { STORE_ARRAY, STORE_GLOBAL, STORE_BLOCK };

struct store {
	enum store_kind kind;
	uint32_t number;     /* of a block, from 1 */
	uint64_t object;     /* the name of a global; the address of a block, 0 if it has a name */
	uint64_t bytes;      /* blocks: at least those of its alloc */
	uint32_t widest;     /* the most bytes that an access with a size touches */
	bool mixed;          /* accesses differ in size, or it is none that C has a type for */
	bool vague;          /* some access is too large to follow its values */
	uint32_t last_use;   /* the step of the last access */
	uint32_t freed;      /* the step of its free, 0: it has none */
};

/* An access's share of the plan. */
struct spot {
	uint32_t store;
	uint32_t size;   /* in bytes */
	uint64_t offset; /* in the store; in the array, the address until memory_layout() */
	bool checked;    /* a read, and the trace determines its value */
};

/* Initial contents of globals and of the array, eight bytes each. */
struct cell {
	uint32_t store;
	uint64_t offset;
	uint8_t written, known; /* masks of bytes */
	uint8_t byte[8];        /* the initial ones */
};

struct segment {
	uint64_t first, last;
	uint32_t store;
};

struct memory {
	struct arena *arena;
	struct seg stores;
	uint32_t store_count, blocks, globals;
	struct seg newest;      /* uint32_t by object id: its store, 0 for none yet */
	struct map allocated;   /* address to the newest block that starts there */
	struct segment *segments;
	size_t segment_count, segment_capacity;
	struct map pages;       /* page number to its place in the array, from 1 */
	struct map cell_ids;    /* (store, offset / 8) to the number of the cell, from 1 */
	struct seg cells;
	uint32_t cell_count;
	uint32_t odd;           /* the most bytes of an access that C has no type for */
	bool array_used;
};

enum { PAGE_BYTES = 4096 };

void memory_init(struct memory *m, struct arena *a);

static inline struct store *memory_store(struct memory *m, uint32_t number)
{
	return seg_at(&m->stores, number, sizeof(struct store));
}

static inline struct cell *memory_cell(struct memory *m, uint32_t number)
{
	return seg_at(&m->cells, number, sizeof(struct cell));
}

/*
 * Each takes the next event of its kind, in the order of the trace, and fills in the spot; a `free` of nothing has
 * store 0. They return NULL, or in words why no program can do that.
 */
const char *memory_access(struct memory *m, const struct event *e, struct spot *to);
const char *memory_alloc(struct memory *m, const struct event *e, struct spot *to);
void memory_free(struct memory *m, const struct event *e, struct spot *to);

/* After the last event: puts the pages in order. */
void memory_layout(struct memory *m);

/* Then again for each access in order: its final size and offset, and whether its value is determined. */
void memory_settle(struct memory *m, struct spot *to);
void memory_follow(struct memory *m, const struct event *e, struct spot *to);

/* The bytes of the array. */
uint64_t memory_array_bytes(const struct memory *m);

/* Whether the block can be given back by its free: nothing uses it later. */
bool memory_is_freed(const struct store *s, uint32_t step);

#endif
