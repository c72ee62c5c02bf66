/* SPDX-License-Identifier: MIT */
/*
 * Orders of two threads that take turns: one after the other, and one in the middle of the other.
 *
 * A plan of predict needs an execution that has both halves of a split: if the check of a check-then-act fails in it,
 * there is no act, and nothing to plan. Here nothing is asked of the execution but where its threads have given back a
 * lock: one is stopped there, the other does all that it has to do, and the first goes on, whatever it then does.
 */
#ifndef FISSION_CHASE_TURNS_H
#define FISSION_CHASE_TURNS_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct judged;
struct order;

/* So many places of one thread are tried. */
enum { TURNS_MOST = 16 };

/* A thread goes by its number of creation: 1 is the one that makes the others. In the arena; NULL: it did nothing. */
struct order *turns_begin(const struct judged *j, uint32_t thread, struct arena *a);

struct turns {
	uint32_t thread, other;
	struct order *order[TURNS_MOST];
	size_t count;
};

/* Sets the orders: the thread up to each release but its last, then all of the other. */
void turns_between(struct turns *t, const struct judged *j, struct arena *a);

#endif
