/* SPDX-License-Identifier: MIT */
/*
 * The judge of plans: runs a plan event by event and believes nothing.
 *
 * It shares no code with whoever made the plan, and takes of the trace its events and the numbers of their locations,
 * no more: which write a read sees, how locks nest, who belongs to which round of a barrier it finds out itself, in one
 * walk over the trace. Then it walks again, in the order of the plan, and says no at the first event that cannot be:
 *
 * - a thread's events come in their order, its first after its fork, a join after all that its thread has in the trace;
 * - nobody takes a lock that another holds, unless both take its shared side; taking again what one holds is free;
 * - a wait gives its mutex back whole, and has it again before its thread goes on; if it was notified in the trace, it
 *   must be here; a thread leaves a barrier when all of its round have come; a semaphore is never below zero, where it
 *   begins with the least that makes the trace itself possible;
 * - every read sees, byte for byte, the write that it sees in the trace, or (by values) one of the same value: but for
 *   e2 and e3, and for what e2's thread reads behind an e2 that reads;
 * - e1 comes before e2, and e2 before e3, which is the end; e1 and e3 are of one activation that has not ended, e2 of
 *   another thread; e1 and e2 conflict on a location, and so do e2 and e3, and not all of them only write it. So in the
 *   order of conflicts the block comes before e2 and after it: no serial order does.
 */
#ifndef FISSION_PREDICT_WITNESS_H
#define FISSION_PREDICT_WITNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "finding/finding.h"
#include "predict/whole.h"

/* What is known of a trace: once for all its plans. Nobody writes it afterwards. */
struct witness;

struct witness *witness_new(struct arena *a, const struct whole *w);

/* One entry of a plan: the event, or (`resumes`) that its thread leaves the wait or barrier right before it. */
struct witness_step {
	uint32_t event;
	bool resumes;
};

struct witness_plan {
	uint32_t before; /* events 0 to this - 1 come first, as they did */
	const struct witness_step *step;
	size_t steps;
	uint32_t first, culprit, second; /* events */
	uint32_t loc;
	const struct block *block;
	bool values; /* a read may see another write of the same value */
};

/* NULL if it is right, otherwise what is wrong, in a few words. `a` is for scratch memory. */
const char *witness_refutes(const struct witness *w, struct arena *a, const struct witness_plan *plan);

#endif
