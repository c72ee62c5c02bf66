/* SPDX-License-Identifier: MIT */
/*
 * What one execution teaches a search: the seam between executions that happen elsewhere, in any order, and the search,
 * which learns from them in its own.
 *
 * A lesson depends on the program, its input and the order, and on nothing that the search knows. So it can be made by
 * anybody, more than once, and kept. The search takes from it what is new to it, by the same rules as from an execution
 * of its own: candidates that it wants, plans if anything was new, what was reproduced and not known yet.
 *
 * A lesson is all text and numbers. lesson_of() shares with the search that it was made by.
 */
#ifndef FISSION_CHASE_LESSON_H
#define FISSION_CHASE_LESSON_H

#include "chase/chase.h"

struct lesson {
	struct chase_last last;
	uint64_t events, steps, repeats;
	bool reached;
	const struct chase_candidate *candidate;
	size_t candidates;
	const struct chase_plan *plan, *wide;
	size_t plans, wides;
	uint64_t *pair; /* rising */
	size_t pairs;
	const struct chase_hit *hit; /* of each: id, defect, block, file, replay.finding */
	size_t hits;
	const struct chase_failure *failure;
	size_t failures;
};

/* Of a search that has executed once (chase_once). */
void lesson_of(struct lesson *l, struct chase *c);

/* Returns whether it brought anything new. `free`: the execution had no plan, so its plans are dealt to shards. */
bool lesson_learn(struct chase *c, const struct lesson *l, bool free);

#endif
