/* SPDX-License-Identifier: MIT */
/*
 * From values to inputs: what a solver has found for the inputs of a walk, written into the bytes that the program is
 * given. A byte goes where it was read; a number is written in digits over the text that it was read from, so what
 * stands behind it may move; a text may grow, and an argument or variable ends at its first NUL.
 */
#ifndef FISSION_SYMBOLIC_CHANGE_H
#define FISSION_SYMBOLIC_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct inputs;
struct walk;

/* The input of that number gets that value. */
struct change {
	uint32_t input;
	uint64_t value;
};

struct changes {
	struct change *at;
	size_t count;
};

/* New inputs, in the arena; NULL if there is something that cannot be written, such as a file that is gone. */
struct inputs *change_inputs(const struct inputs *old, const struct walk *w, const struct changes *c, struct arena *a);

#endif
