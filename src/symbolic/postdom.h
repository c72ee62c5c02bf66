/* SPDX-License-Identifier: MIT */
/*
 * Immediate post-dominators of a graph with one virtual end, by the iteration of Cooper, Harvey and Kennedy.
 *
 * A node that has no way to the end (it aborts, or goes round for ever) has none, and ways into it do not count: a
 * branch of which one side aborts joins where the other side goes on. Cost: a few passes over the edges.
 */
#ifndef FISSION_SYMBOLIC_POSTDOM_H
#define FISSION_SYMBOLIC_POSTDOM_H

#include <stdbool.h>
#include <stdint.h>

struct arena;

enum { POSTDOM_EXIT = UINT32_MAX - 1, POSTDOM_NONE = UINT32_MAX };

struct postdom_node {
	const uint32_t *to;
	uint32_t tos;
	bool ends;     /* the way ends here, as it should: a return */
	uint32_t join; /* the answer */
};

void postdom(struct postdom_node *node, uint32_t count, struct arena *a);

#endif
