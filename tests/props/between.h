/* SPDX-License-Identifier: MIT */
/*
 * The judge of three accesses: brute force over all correct reorderings of a small trace, in which reads see the write
 * that they saw, or a write of the same value.
 *
 * Which steps may happen when is reorder.h's word (steps.h). A state is where each thread is and which step wrote each
 * piece of memory last; none is entered twice. Nothing is left out because it seems to make no difference.
 */
#ifndef FISSION_TESTS_PROPS_BETWEEN_H
#define FISSION_TESTS_PROPS_BETWEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reorder.h"

struct event;

/* a and b are seqs of one thread's accesses, x that of another's: a, x, b. */
struct between {
	uint64_t a, x, b;
	bool values; /* a read of a named variable may see another write of its value */
};

/*
 * YES if some correct reordering has a before x before b, with all reads as in the trace but x and b, and but those of
 * x's thread behind x if x itself reads.
 */
enum reorder_answer between_possible(const struct event *events, size_t n, const struct between *q);

#endif
