/* SPDX-License-Identifier: MIT */
/*
 * Stories of many results as one story.
 *
 * Findings of one id are one finding: the surest verdict wins, then the one that repeats no other, then most evidence,
 * then the shortest, then the first unit by id. That is a total order over what units say, so it does not matter in
 * which order results came, or how often. Traces stand by name; pieces of one trace are one.
 *
 * A unit of which two copies differ has been decided by something outside of it. What it says was reproduced is taken
 * back to `observed`: it has happened, and nobody knows whether it would once more.
 */
#ifndef FISSION_SCALE_JOIN_H
#define FISSION_SCALE_JOIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/intern.h"
#include "report/story.h"

struct arena;
struct result;

/* One result that is told of. */
struct join_part {
	const struct result *result;
	struct story story;
	struct text name; /* of its trace; empty: as the story says */
};

struct join {
	struct arena *arena;
	struct join_part *part;
	size_t parts, room;
	size_t unread; /* results whose story could not be read */
};

void join_init(struct join *m, struct arena *a);

/* Takes what the result says, if it says anything. */
void join_add(struct join *m, const struct result *r);

/* Puts them together. Status, rank and the like are the caller's; so are failures. */
void join_tell(struct join *m, struct story *s);

#endif
