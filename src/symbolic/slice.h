/* SPDX-License-Identifier: MIT */
/*
 * Slices: of all conditions before a decision, those that have to do with it, because they share inputs with it or with
 * one another. What is left out holds as long as its own inputs stay as they are.
 *
 * A slice asked for twice is the same question, in whatever run and schedule it comes up; its key says so.
 */
#ifndef FISSION_SYMBOLIC_SLICE_H
#define FISSION_SYMBOLIC_SLICE_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct walk;

/* Numbers of things of the walk. */
struct slice_set {
	uint32_t *at;
	size_t count;
};

/* The inputs of every condition of a walk. */
struct slices {
	const struct walk *walk;
	struct arena *arena;
	struct slice_set *inputs; /* by condition */
	uint64_t *key;            /* by condition: what it says; 0: an earlier one says the same */
	uint32_t *leader;         /* by input, of those that belong together; for the question at hand */
};

struct slice {
	struct slice_set conditions; /* by number, oldest first, without the decision itself */
	struct slice_set inputs;     /* of all of them; first the decision's own */
	size_t own;                  /* so many are */
	uint64_t key;
};

void slices_init(struct slices *s, const struct walk *w, struct arena *a);

/* Of the condition of that number. In the arena. */
struct slice slice_make(struct slices *s, size_t condition);

/* The key alone, which costs less than half; 0 if the decision was made before, and so cannot be made otherwise. */
uint64_t slice_key(struct slices *s, size_t condition);

#endif
