/* SPDX-License-Identifier: MIT */
/*
 * What the sections of a window do to memory: lost updates, stale values and pointers, what commutes.
 *
 * Everything is by variables as run.c numbers them, from the notes in the diaries. Cost: sorting the accesses of the
 * sections; for what commutes, a pass over the window for each variable that the culprits touch.
 */
#ifndef FISSION_CHECK_USES_H
#define FISSION_CHECK_USES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scene;

/* What a section does to a variable: numbers of its first notes, or UINT64_MAX. */
struct use {
	uint64_t x, read, write;
};

struct uses {
	struct use *at;
	size_t count, capacity;
};

/* A value that the first section has loaded, at a note; it is good until note `again`, where the second loads it anew. */
struct load {
	uint64_t value, note, again;
	bool changed; /* the culprit has written the variable */
};

struct loads {
	struct load *at;
	size_t count, capacity;
};

/* Scratch, kept for its memory. */
struct uses_scratch {
	struct uses first, second, theirs;
	struct uses lone; /* of one culprit's section */
	struct loads loads;
};

/* FACT_UPDATE, FACT_POINTER, FACT_VALUE, FACT_DATA: what holds now holds when the sections have gone on. */
uint32_t uses_growing(struct uses_scratch *u, const struct scene *c);

/* FACT_APART, FACT_COMMUTES, FACT_SCATTERED: once the sections are over, after uses_growing gave `facts`. */
uint32_t uses_whole(struct uses_scratch *u, const struct scene *c, uint32_t facts);

#endif
