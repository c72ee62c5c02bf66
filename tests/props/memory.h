/* SPDX-License-Identifier: MIT */
/*
 * What reads see, for searches over reorderings.
 *
 * A *sight* is a read and one cell that it reads and that somebody writes. A *view* says of each sight which step
 * wrote what it sees, and of each cell which step wrote last. A `struct memory` holds a search to a view: the state of
 * memory is a mask with a bit for each sight that is to be kept, set while the write that it should see is the last
 * one; so two histories are one state as soon as no read to come can tell them apart.
 */
#ifndef FISSION_TESTS_PROPS_MEMORY_H
#define FISSION_TESTS_PROPS_MEMORY_H

#include "steps.h"

enum { SIGHTS_MOST = 64 };

struct sight {
	uint8_t step, cell;
};

struct sights {
	struct sight at[SIGHTS_MOST];
	size_t count;
	uint64_t written; /* cells */
};

/* Steps count from 1 here; 0 is the initial value. */
struct view {
	uint8_t seen[SIGHTS_MOST];
	uint8_t last[STEPS_CELLS];
};

struct memory {
	uint64_t start;
	uint64_t end; /* bits that must be set at the end: the last writes are the right ones */
	uint64_t reads[STEPS_MOST];
	uint64_t spoils[STEPS_MOST], serves[STEPS_MOST];
};

/* False if there are too many. */
bool sights_make(struct sights *g, const struct steps *s);

/* The step happens: updates v->seen and v->last, which start from all zero. */
void view_step(struct view *v, const struct sights *g, const struct steps *s, size_t i);

/* What reads see in the trace itself. */
void view_recorded(struct view *v, const struct sights *g, const struct steps *s);

/* Holds the reads among the steps `strict` to the view. */
void memory_keep(
	struct memory *m, const struct sights *g, const struct steps *s, const struct view *v, uint64_t strict);

/* Last writes, too. False if there are not bits enough for that. */
bool memory_keep_last(struct memory *m, const struct sights *g, const struct steps *s, const struct view *v);

/* Where a search is: all that decides what can come. */
struct state {
	uint64_t positions, memory;
};

/* The thread's next step if it can be done now, or -1. */
int state_possible(const struct steps *s, const struct memory *m, struct state at, size_t t);

struct state state_after(const struct steps *s, const struct memory *m, struct state at, size_t i);

#endif
