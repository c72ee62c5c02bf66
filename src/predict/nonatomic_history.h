/* SPDX-License-Identifier: MIT */
/*
 * The run as its blocks see it: what each reads of a variable before it writes it, and what it leaves there.
 *
 * In a serial order nothing else of a block matters. ext_x(B) is the value of B's first access to x if that is a read,
 * exp_x(B) the last value that B writes to x. Values are numbers from 1; 0 is a value that is not known.
 *
 * Invariant: block b is number b of the question, `chain` has the blocks of a thread in their order, the uses of a
 * block are sorted by variable, and those of a variable are in the order in which their blocks began. Cost: linear, but
 * for the sorting of a block's uses.
 */
#ifndef FISSION_PREDICT_NONATOMIC_HISTORY_H
#define FISSION_PREDICT_NONATOMIC_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct arena;
struct nonatomic_question;

enum { HISTORY_NONE = 0xffffffff };

/* All that a block does to a variable. */
struct use {
	uint32_t block, variable;
	uint32_t ext, exp;   /* values; 0: not known */
	bool reads, writes;  /* whether it has an ext, an exp */
	uint32_t first, last; /* ops */
	uint32_t first_write, last_write; /* HISTORY_NONE */
	uint32_t same; /* the next use that leaves the same value in the variable; HISTORY_NONE */
};

struct history_block {
	uint32_t thread, position; /* in its chain */
	uint32_t first; /* of its uses */
	uint32_t uses;
	uint32_t begin, end; /* its first and last op; 0 if it has none */
	uint32_t rank; /* in the search's first order; unique */
};

struct history {
	struct arena *arena;
	const struct nonatomic_question *q;
	uint32_t *value; /* by op */
	uint32_t *initial, *final; /* by variable; 0: not known, or never written */
	struct history_block *block;
	uint32_t *chain;    /* blocks, thread by thread */
	uint32_t *chain_at; /* by thread: where its own begin; one more at the end */
	struct use *use;    /* block by block */
	uint32_t uses;
	uint32_t *of;    /* uses, variable by variable */
	uint32_t *of_at; /* by variable; one more at the end */
	uint32_t *writer;    /* uses that write, by variable, then by thread, then as they come in it */
	uint32_t *writer_at; /* by variable; one more at the end */
	struct map by_value;  /* (variable, value) to the first use that leaves it, + 1 */
	uint32_t local[2];    /* L: a read and the access before it; HISTORY_NONE */
	uint32_t unexplained; /* variables */
	bool cyclic;          /* the conflict graph has a cycle */
};

void history_make(struct history *h, struct arena *a, const struct nonatomic_question *q);

/* What the block does to the variable; NULL: nothing. */
const struct use *history_use(const struct history *h, uint32_t b, uint32_t x);

/* The first use that leaves the value in the variable; 0 for uses of which it is not known. The next is in `same`. */
uint32_t history_leaving(const struct history *h, uint32_t x, uint32_t value);

/* A thread's uses that write a variable, in their order: `count` numbers of uses. */
struct writers {
	const uint32_t *use;
	uint32_t count;
};

struct writers history_writers(const struct history *h, uint32_t x, uint32_t thread);

static inline uint32_t history_length(const struct history *h, uint32_t thread)
{
	return h->chain_at[thread + 1] - h->chain_at[thread];
}

/* Whether both are of one thread, a before b. */
static inline bool history_precedes(const struct history *h, uint32_t a, uint32_t b)
{
	return h->block[a].thread == h->block[b].thread && h->block[a].position < h->block[b].position;
}

#endif
