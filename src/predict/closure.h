/* SPDX-License-Identifier: MIT */
/*
 * What an ideal's steps must come before, saturated: tier A of a prediction.
 *
 * Order comes from the threads themselves, fork and join, barriers, a semaphore's post, notify, the write that a kept
 * read sees, and from e1 < e2 < e3. Then two rules, until nothing new follows:
 *
 *   reads   r sees w, and w' is another write of that location: w' < r gives w' < w; w < w' gives r < w'.
 *           What happened before the window, and the initial value, come before every w'.
 *   locks   two sections of one lock, not both shared: if the one begins before the other ends, it ends before the
 *           other begins. One that stays open comes after all others; one that the window finds open, before.
 *
 * A cycle says that there is no such order. None does not say that there is one: linear.h tries.
 *
 * State: for each node a clock: of each active thread, how many of its nodes come before it (its own: with it). Each
 * round sorts all nodes, which makes the clocks, and goes through the rules once. Cost of a round: nodes times active
 * threads, and for each read and each section a binary search an active thread.
 */
#ifndef FISSION_PREDICT_CLOSURE_H
#define FISSION_PREDICT_CLOSURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "predict/ideal.h"

struct closure_edge {
	uint32_t to, next; /* next: number + 1 of another edge from the same node */
};

/* A critical section. */
struct section {
	uint32_t acquire; /* node; DONE */
	uint32_t release; /* node; NO_STEP: it stays open */
	uint32_t lock;
	uint32_t slot;
	bool shared;
};

/* Neighbours in a list that are of one thread. */
struct group {
	uint32_t slot, from, to;
};

/* Lists of things (locations, locks), cut into groups. Thing i has groups first[i] to first[i + 1] - 1. */
struct groups {
	struct group *at;
	uint32_t *first;
	uint32_t count; /* of things */
};

struct closure {
	const struct ideal *d;
	struct arena *arena;
	uint32_t *clock; /* by node, then slot */
	uint32_t *head;  /* by node: number + 1 of its newest edge */
	uint32_t *into;  /* by node: how many edges lead into it */
	struct closure_edge *edge;
	size_t edges, edge_capacity;
	struct map locs;   /* location to its number + 1 in what follows */
	uint32_t *write;   /* nodes, by location and thread */
	struct groups writes;
	struct section *section; /* by lock and thread */
	uint32_t section_count;
	struct groups sections;
	bool fails;
	uint32_t rounds; /* that it took */
};

/* Without the rules. False if there is a lock that an ideal's thread never gives back, and another one needs. */
bool closure_make(struct closure *c, struct arena *a, const struct ideal *d);

/* Adds: `before` comes before `after`. */
void closure_add(struct closure *c, uint32_t before, uint32_t after);

/* Makes the clocks. False if there is a cycle. */
bool closure_sort(struct closure *c);

/* Applies the rules until nothing follows; false if there is a cycle. */
bool closure_saturate(struct closure *c);

/* Whether node a comes before node b, as of the last sort. */
static inline bool closure_before(const struct closure *c, uint32_t a, uint32_t b)
{
	uint32_t t = ideal_step(c->d, a)->thread;

	return c->clock[(size_t)b * c->d->active + c->d->slot[t]] > a - c->d->base[t];
}

/* The number of a location in `writes`, from 0; it must be written in the ideal, otherwise NO_STEP. */
static inline uint32_t closure_loc(const struct closure *c, uint32_t loc)
{
	return map_get(&c->locs, loc) - 1;
}

/* Node of the write that a read's location number k sees, or DONE; NO_STEP if that is not in the ideal. */
uint32_t closure_source(const struct closure *c, const struct step *read, uint32_t k);

#endif
