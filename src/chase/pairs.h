/* SPDX-License-Identifier: MIT */
/*
 * Every two operations of a library against each other: 004 Figure 6, with a search for each pair instead of one run.
 *
 * The program is one that include/fission/pairs.h has made: it lists its operations, and does two of them, in two
 * threads, on objects that they share. "same": both work on one object, and get the same second one. "crossed": each
 * works on its own and gets the other's as the second one; only where one of them takes a second object. The paper has
 * "crossed" alone, leaves out pairs that both take one, since they may deadlock, and judges one run of each pair. Here
 * a deadlock is something to tell, and each pair is searched (chase.h) until nothing is left to try. So what is said to
 * be split has happened, twice; what is not may still be splittable by other arguments.
 *
 * The same program gives the same matrix each time: executions are controlled, and no clock decides anything.
 */
#ifndef FISSION_CHASE_PAIRS_H
#define FISSION_CHASE_PAIRS_H

#include <stdbool.h>

#include "base/shard.h"
#include "report/pairs.h"

struct arena;
struct chase;
struct fault;
struct policy;

/* An operation's name and that of a table have so many bytes at most; so many operations are enough for anyone. */
enum { PAIRS_NAME_MOST = 63, PAIRS_MOST = 999 };

struct pairs_setup {
	char *program;
	const struct policy *policy;
	unsigned long seeds;  /* free executions of each pair at most */
	struct text only[2];  /* pairs of these alone; empty: any operation */
	struct shard shard;   /* of the pairs, by "NAME/NAME" */
	void *to;
	/* After each search, which is the callee's to free; the pair's cells are up to date. */
	void (*take)(void *to, struct chase *c, struct pairs *p);
};

/* Asks the program for its operations; the matrix is empty. False with a fault, STATUS_USAGE if it has no table. */
bool pairs_list(struct pairs *p, struct arena *a, const struct pairs_setup *setup, struct fault *fault);

/* Fills the matrix. False with a fault if the program could not be started, or not be controlled. */
bool pairs_search(struct pairs *p, struct arena *a, const struct pairs_setup *setup, struct fault *fault);

#endif
