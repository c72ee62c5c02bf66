/* SPDX-License-Identifier: MIT */
/*
 * The open activations of one thread: functions entered and blocks begun, not yet left.
 *
 * Representation: an array, oldest first. Invariant: `begin` strictly increases along it. Functions and declared
 * blocks may cross (a block begun in a function and ended after it): leaving one removes the youngest of its own
 * sort, wherever it stands, and the order stays.
 * Cost: push and pop constant where they nest; the search is logarithmic.
 */
#ifndef FISSION_STATE_ACTIVATIONS_H
#define FISSION_STATE_ACTIVATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

struct arena;

struct activation {
	uint64_t begin; /* seq of its enter or begin */
	code_id code;
	site_id site;
	stack_id caller; /* the stack below a function, to come back to */
	bool declared;
};

struct activations {
	struct activation *at;
	size_t depth, capacity;
	size_t declared; /* how many of them are declared blocks */
};

void activations_push(struct activations *s, struct arena *a, struct activation activation);

/* The youngest of the sort, or NULL. */
struct activation *activations_youngest(const struct activations *s, bool declared);

/* Removes the youngest of the sort; there must be one. */
void activations_pop(struct activations *s, bool declared);

/* The youngest activation that had begun by `seq`, or NULL: the innermost that holds the event `seq` and now. */
const struct activation *activations_holding(const struct activations *s, uint64_t seq);

/* The same among the declared ones only. */
const struct activation *activations_declared_holding(const struct activations *s, uint64_t seq);

#endif
