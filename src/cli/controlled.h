/* SPDX-License-Identifier: MIT */
/* Controlled runs by hand, for tests and for curiosity: an order from the command line or from a file. */
#ifndef FISSION_CLI_CONTROLLED_H
#define FISSION_CLI_CONTROLLED_H

#include <stddef.h>

struct arena;
struct gated;
struct order;

/* What the options say; all NULL or 0 at first. */
struct controlled {
	const char *strategy, *order, *executed;
	unsigned long seed, depth, budget, patience;
};

extern struct controlled controlled;

/* The names of strategies, for the option. */
const char *controlled_strategies(size_t i, const char **about);

/* The order that was asked for, from the arena, or NULL. A file that is none ends the tool. */
const struct order *controlled_order(struct arena *a);

/* Says on standard error what is worth saying of the run, and writes what was executed, if that was asked for. */
void controlled_tell(const struct gated *g);

#endif
