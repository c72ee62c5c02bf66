/* SPDX-License-Identifier: MIT */
/*
 * What must come before what in every serial order that explains a history: a partial order of blocks that grows.
 *
 * Representation: blocks of a thread are in a chain, so that what comes after a block is a suffix of each chain:
 * `from[b][t]` is the position in thread t's chain from which on all come after b; b itself counts. One more thread has
 * one block, the end of the run, which comes after all others.
 * Invariant: transitive, and it goes up along a chain. Cost: threads + 1 words a block; an edge costs that times the
 * blocks that learn something by it.
 */
#ifndef FISSION_PREDICT_NONATOMIC_REACH_H
#define FISSION_PREDICT_NONATOMIC_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/nonatomic.h"
#include "predict/nonatomic_history.h"

struct reach {
	const struct history *h;
	uint32_t width; /* threads + 1 */
	uint32_t *from;
	uint64_t work; /* rows that were changed */
};

/* Whether there is memory enough for it, by a fixed limit. */
bool reach_fits(const struct history *h);

/* Program order, fork and join. False if these contradict each other. */
bool reach_make(struct reach *r, const struct history *h);

/* The block that stands for the end. */
static inline uint32_t reach_end(const struct reach *r)
{
	return r->h->q->blocks;
}

static inline uint32_t reach_thread(const struct reach *r, uint32_t b)
{
	return b == reach_end(r) ? r->width - 1 : r->h->block[b].thread;
}

static inline uint32_t reach_position(const struct reach *r, uint32_t b)
{
	return b == reach_end(r) ? 0 : r->h->block[b].position;
}

/* Whether a must come before b; of a block itself, too. */
static inline bool reach_before(const struct reach *r, uint32_t a, uint32_t b)
{
	return r->from[(size_t)a * r->width + reach_thread(r, b)] <= reach_position(r, b);
}

/* a must come before b. False if b must come before a, or is it. */
bool reach_add(struct reach *r, uint32_t a, uint32_t b);

#endif
