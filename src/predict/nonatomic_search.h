/* SPDX-License-Identifier: MIT */
/*
 * The exhaustive check: a search for a serial order that explains a history.
 *
 * Depth first over the blocks that can come next, the best ranked first. What follows from a point depends only on how
 * far each thread has come and on what is in memory, so that no such point is gone on from twice; a variable that
 * nobody will read any more does not count. A block that writes nothing and finds all it reads is run at once: it
 * changes nothing for the others, and can only lose by waiting. (A block that writes what is there already may not: a
 * later reader may need it later.) Memory that is not known takes the value of whoever reads it first.
 *
 * Points are remembered by 128 bits of hash: a collision would be a wrong "none", and takes 2^64 points to be likely.
 */
#ifndef FISSION_PREDICT_NONATOMIC_SEARCH_H
#define FISSION_PREDICT_NONATOMIC_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reach;

enum search_end { SEARCH_FOUND, SEARCH_NONE, SEARCH_OPEN };

struct search_result {
	enum search_end end;
	const uint32_t *serial;  /* SEARCH_FOUND: the blocks in their order */
	bool leaves_final;       /* and memory is as the run has left it */
	const uint32_t *stuck;   /* SEARCH_NONE: reads that the longest attempt could not explain */
	size_t stucks;
};

/*
 * For a history without L. Within what r allows; with `final`, memory must be as the run has left it. The budget is in
 * blocks that are tried.
 */
struct search_result search_serial(const struct reach *r, bool final, uint64_t budget);

#endif
