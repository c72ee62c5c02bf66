/* SPDX-License-Identifier: MIT */
/*
 * The open activations of one thread: functions entered, blocks begun and locks taken, not yet left.
 *
 * Which of them are expected to be atomic is the policy's word (`block`). Fork, join, barrier and condition wait cut:
 * a block that the policy made from a function or a lock holds nothing across them. A block that the trace itself
 * declares by begin and end (ACTIVATION_BLOCK) is taken literally and is never cut.
 *
 * Representation: an array, oldest first. Invariant: `begin` strictly increases along it. Functions and blocks
 * may cross (a block begun in a function and ended after it): leaving one removes the youngest of its own sort,
 * wherever it stands, and the order stays. Each knows the youngest block, exact one and literal block at or below it,
 * and the oldest block.
 * Cost: push and pop constant where they nest, otherwise linear in what lies above; a search is logarithmic.
 */
#ifndef FISSION_STATE_ACTIVATIONS_H
#define FISSION_STATE_ACTIVATIONS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "event/event.h"

enum activation_sort { ACTIVATION_FUNCTION, ACTIVATION_BLOCK, ACTIVATION_SPAN };

struct activation {
	uint64_t begin; /* seq of its enter, begin or acquire */
	code_id code;
	site_id site;
	stack_id stack;  /* in its own function */
	stack_id caller; /* in which it was begun, at `site` */
	stack_id outer;  /* of a function: which its line was on before */
	sync_id lock;  /* of a span: from its acquire to its release */
	uint8_t sort;  /* enum activation_sort */
	bool block;    /* it is expected to be atomic */
	bool declared; /* somebody has said so: in the trace, in a comment, in a file */
	bool exact;    /* it is one of the blocks that aerodrome and velodrome take together */
	/* Made by activations_push: positions from 1, 0 for none. */
	uint32_t youngest_block, youngest_exact;
	uint32_t youngest_literal; /* block by begin and end; each of these is exact */
	uint32_t oldest_block;
};

struct activations {
	struct activation *at;
	size_t depth, capacity;
	size_t exact; /* how many of them are exact */
	uint64_t cut; /* seq of the last operation that cut, 0 for none */
};

/* From which event on the activation holds what it holds. */
static inline uint64_t activation_since(const struct activations *s, const struct activation *a)
{
	return a->sort == ACTIVATION_BLOCK || a->begin > s->cut ? a->begin : s->cut + 1;
}

/* What is youngest and oldest at position i, from what is below it. */
static inline void activations_link(struct activations *s, size_t i)
{
	static const struct activation none;
	struct activation *a = &s->at[i];
	const struct activation *below = i ? a - 1 : &none;
	uint32_t self = (uint32_t)i + 1;

	a->youngest_block = a->block ? self : below->youngest_block;
	a->youngest_exact = a->exact ? self : below->youngest_exact;
	a->youngest_literal = a->block && a->sort == ACTIVATION_BLOCK ? self : below->youngest_literal;
	a->oldest_block = below->oldest_block ? below->oldest_block : a->youngest_block;
}

static inline __attribute__((always_inline)) void activations_push(struct activations *s, struct arena *a,
	struct activation activation)
{
	assert(s->depth == 0 || s->at[s->depth - 1].begin <= activation.begin);
	assert(activation.sort != ACTIVATION_BLOCK || activation.block == activation.exact);
	if (__builtin_expect(s->depth == s->capacity, 0))
		s->at = arena_reserve(a, s->at, &s->capacity, s->depth, sizeof *s->at);
	s->at[s->depth++] = activation;
	s->exact += activation.exact;
	activations_link(s, s->depth - 1);
}

/* The youngest of the sort, or NULL. */
struct activation *activations_youngest(const struct activations *s, enum activation_sort sort);

/* Slow path of activations_pop: there are others above. */
__attribute__((cold, noinline)) void activations_pull(struct activations *s, struct activation *gone);

/* Removes an activation of the list. */
static inline void activations_pop(struct activations *s, struct activation *gone)
{
	if (__builtin_expect(gone != s->at + s->depth - 1, 0)) {
		activations_pull(s, gone);
		return;
	}
	s->exact -= gone->exact;
	s->depth--;
}

/* The oldest block, or NULL: the outermost. */
static inline const struct activation *activations_outermost(const struct activations *s)
{
	uint32_t found = s->depth ? s->at[s->depth - 1].oldest_block : 0;

	return found ? &s->at[found - 1] : NULL;
}

/* The youngest block that holds the event `seq` and now, or NULL: the innermost. */
const struct activation *activations_holding(const struct activations *s, uint64_t seq);

/* The same among the exact ones only. */
const struct activation *activations_exact_holding(const struct activations *s, uint64_t seq);

#endif
