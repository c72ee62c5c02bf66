/* SPDX-License-Identifier: MIT */
/*
 * Memory as variables: accesses that overlap share a variable, accesses that do not never do.
 *
 * A named object is a variable. Addressed memory is divided into cells: sets of bytes within one 64-byte line that
 * no access so far has told apart. An access to a part of a cell divides it, and the new part starts with a copy
 * of the old one's state (`split`); bytes that were never touched make a new cell.
 *
 * Representation: a map from line number to a list of cells, each with the mask of its bytes and its variable
 * number. Invariant: the masks of a line's cells are disjoint and not empty.
 * Cost: one map look-up, then linear in the cells of the line (mostly one or two), for each line touched.
 */
#ifndef FISSION_STATE_CELLS_H
#define FISSION_STATE_CELLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/seg.h"

struct event;

/* What the owner is told; a variable is touched only after the splits that the access makes in its line. */
struct cells_listener {
	void *self;
	void (*split)(void *self, uint64_t x, uint64_t y);
	void (*forget)(void *self, uint64_t x);
	void (*touch)(void *self, uint64_t x);
};

struct cells {
	struct arena *arena;
	struct seg named; /* uint64_t by object id: variable + 1, 0 for none yet */
	struct map lines; /* address / 64 to the index of its first cell */
	struct seg cell;
	uint32_t cell_count;
	struct seg origin; /* by variable: where it is */
	uint64_t variables;
	struct cells_listener to;
};

void cells_init(struct cells *c, struct arena *a, struct cells_listener to);

/* Tells the listener which variables the access touches. */
void cells_access(struct cells *c, const struct event *e);

/* The bytes of this alloc begin a new life: tells the listener what to forget. */
void cells_alloc(struct cells *c, const struct event *e);

/* Slow path of cells_named: a new variable. */
uint64_t cells_named_new(struct cells *c, uint64_t object);

/* The variable that a named access touches: the whole answer in nearly all text traces. */
static inline uint64_t cells_named(struct cells *c, uint64_t object)
{
	uint64_t x = *(uint64_t *)seg_at(&c->named, object, sizeof x);

	return x ? x - 1 : cells_named_new(c, object);
}

/* Fills in object, flags and size as an access to the variable would have them. */
void cells_name(const struct cells *c, uint64_t x, struct event *e);

#endif
