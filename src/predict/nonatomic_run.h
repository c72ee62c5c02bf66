/* SPDX-License-Identifier: MIT */
/*
 * A trace as nonatomic_judge() wants to see it, for any choice of blocks.
 *
 * Variables are the locations of predict/whole.h that two threads share; an access to several is several accesses of
 * one block. Memory that is given out anew is another variable. What a read-modify-write has read is what was there:
 * the order of atomics is sure. Fork and join are kept; locks, barriers and semaphores are not: a serial order more
 * makes "not atomic" no less true, and blocks keep most of what locks would.
 */
#ifndef FISSION_PREDICT_NONATOMIC_RUN_H
#define FISSION_PREDICT_NONATOMIC_RUN_H

#include "event/event.h"
#include "predict/nonatomic.h"

struct whole;

/* A block: all of a thread from one event to another, by their numbers in the trace, from 1. */
struct nonatomic_span {
	thread_id thread;
	uint64_t from, to;
};

struct nonatomic_run {
	const struct whole *whole;
	struct nonatomic_op *op; /* without their blocks */
	uint32_t *step;          /* by op */
	size_t ops;
	uint32_t variables;
	struct nonatomic_value *initial; /* by variable: what its first write has found there */
	bool valued; /* some value is known */
};

/* The run lives in the arena, and as long as w. */
void nonatomic_run_make(struct nonatomic_run *r, struct arena *a, const struct whole *w);

/* What is in none of the spans is a block of its own; of spans that overlap in one thread, the first counts. */
struct nonatomic_blocks {
	const struct nonatomic_span *span;
	size_t spans;
	uint64_t budget;
};

/* The answer lives in the arena; its witness and serial order are of this run: see below. */
struct nonatomic_answer nonatomic_run_judge(const struct nonatomic_run *r, struct arena *a,
	const struct nonatomic_blocks *blocks);

/* The event of a witness: its number in the trace. */
uint64_t nonatomic_run_event(const struct nonatomic_run *r, size_t op);

#endif
