/* SPDX-License-Identifier: MIT */
/*
 * What is to be known of a violation once it has happened: the replay of it, whether it can be had again, and what the
 * same blocks do one after the other.
 */
#ifndef FISSION_CHASE_HIT_H
#define FISSION_CHASE_HIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"

struct arena;
struct chase_hit;
struct execute_setup;
struct execution;
struct finding;
struct judged;
struct policy;
struct replay;

/* Whether a value looks like an address of the program's. Those differ from one execution to the next. */
static inline bool hit_is_address(uint64_t value)
{
	return value >> 32 && !(value >> 47);
}

/* How the program is started, and by which policy it is judged. */
struct hit_setup {
	const struct execute_setup *execute; /* all but the order */
	const struct policy *policy;
	struct arena *arena;
};

/* The replay of an execution; of its finding's three operations, if there is one. */
void hit_replay(struct replay *r, const struct judged *j, const struct finding *f, const struct hit_setup *setup);

/*
 * Whether the execution of a replay is the one that the replay is of: it kept to the order, ended the same way, and,
 * if the replay is of a finding, has it, with the same values. `why` is told what is different, in words.
 */
bool hit_same(const struct replay *r, const struct judged *j, const char **why);

/* Runs both serial orders of the hit's blocks, and sets what is known by that: outcomes, and what the program did. */
void hit_compare(struct chase_hit *h, const struct hit_setup *setup);

/* "it was ended by signal 6 (Aborted)". */
struct outcome;
struct text hit_ending(struct arena *a, const struct outcome *o);

#endif
