/* SPDX-License-Identifier: MIT */
/*
 * What would happen on the other side of a branch: from an edge that the whole run never took up to where the ways meet
 * again, into callees, with the values and locks that the thread had at the branch.
 *
 * A region is a graph: a node for each block that is come to with a set of locks, one for each access to memory whose
 * address is known, one for each wait and the like, and one for each way that it can end, by the locks that are held
 * then. What can happen after what is whether there is a way in it. A node knows its locks (holds.h), and whether the
 * thread would have waited before.
 *
 * A way that does not come to the end (it aborts) is none, and its accesses count for nothing.
 * Cost: REGION_BLOCKS blocks at most, callees to REGION_DEPTH calls, wrappers of locks not counted.
 */
#ifndef FISSION_SYMBOLIC_REGION_H
#define FISSION_SYMBOLIC_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolic/units.h"

struct follow;

enum { REGION_BLOCKS = 2000, REGION_DEPTH = 3, REGION_ENDS = 4 };

enum region_kind { REGION_BLOCK, REGION_READ, REGION_WRITE, REGION_CUT, REGION_END };

struct region_node {
	uint8_t kind;
	bool cut;        /* the thread has waited, forked, joined or done input or output on the way here */
	bool useful;     /* a way from here comes to the end */
	uint32_t hold;
	uint32_t parents; /* index of an edge; 0: none */
	uint32_t mark;    /* of the last search that came here */
	uint32_t activation; /* of an access: whose; supposed calls have numbers of their own */
	struct place place;
	uint64_t key;     /* of an access: the variable */
};

struct region_edge {
	uint32_t from, next;
};

struct region {
	struct place branch;
	uint32_t edge;       /* number of the successor */
	uint16_t thread;
	uint32_t activation, hold, cut, clock; /* at the branch */
	size_t before;       /* accesses that were seen by then */
	bool joined;         /* the run came to the join, and then: */
	size_t after;
	uint32_t join_hold, join_cut;
	struct region *waiting; /* for the same frame */
	const char *arm;     /* blocks of the side that was taken, by number */
	struct region_node *node; /* [0] is the branch itself */
	size_t nodes, node_room;
	struct region_edge *parent;
	size_t parents, parent_room;
	uint32_t mark;
	uint32_t end[REGION_ENDS]; /* nodes */
	size_t ends;
	char *block;         /* of the branch's function: whether it is in the region */
	uint64_t known, unknown; /* accesses whose address is known, and others */
	uint64_t deep;       /* calls that were not looked into: too deep */
	bool cut_short;      /* too many blocks */
};

/* The thread is at the branch. In the arena of `f`. */
struct region *region_walk(struct follow *f, uint16_t t, struct place branch, uint32_t edge);

/* Whether there is a way from one node to another, over one edge at least; if `whole`, one on which nothing cuts. */
bool region_reaches(struct region *r, uint32_t from, uint32_t to, bool whole);

/* The blocks from one up to where `stop` says that its ways meet: an array by number. */
char *region_arm(struct follow *f, const struct unit_function *function, uint32_t first, uint32_t stop);

#endif
