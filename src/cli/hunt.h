/* SPDX-License-Identifier: MIT */
/*
 * A search whose executions are units.
 *
 * The search is the one of chase.h, step by step; only, an execution is a result that somebody else has made. While it
 * waits for one, others are made of what it would ask for next. So what is found does not depend on how many workers
 * there are, where they are, or in which order they end; what was made in vain is kept, and not told of. And a search
 * over results that are there already, without any worker, gets as far as they reach: that is how it goes on after it
 * was cut off, and how shards are put together.
 */
#ifndef FISSION_CLI_HUNT_H
#define FISSION_CLI_HUNT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/intern.h"
#include "chase/chase.h"
#include "scale/results.h"

struct join;
struct scale;
struct story;

/* A unit that the search may ask for. */
struct hunt_guess {
	struct address id;
	bool read; /* what follows from its result was guessed, too */
};

struct hunt {
	struct arena *arena;
	struct chase_setup setup;
	struct chase chase;
	struct text template;        /* of its units (units.h) */
	const struct results *known; /* results that are there already; NULL: none */
	struct scale *scale;         /* has the others made; NULL: nobody has */
	struct result **used;        /* results that it has learnt from */
	size_t useds, used_room;
	struct text *left; /* units that would come next, and have no result */
	size_t lefts, left_room;
	bool starved;      /* it ended because of that */
	struct hunt_guess *guess; /* units that are made before they are asked for */
	size_t guesses, guess_room;
	size_t lost;
};

/* A campaign's record, to be searched again. */
void hunt_of_campaign(struct hunt *h, struct arena *a, struct text campaign);

/* The campaign of a search. */
struct text hunt_campaign(const struct hunt *h);

/* Searches as far as it goes. False with a fault. */
bool hunt_search(struct hunt *h, struct fault *fault);

/* What it has learnt from, and what drove the program into a failure. */
void hunt_merge(const struct hunt *h, struct join *m);
void hunt_tell(const struct hunt *h, struct story *s);

#endif
