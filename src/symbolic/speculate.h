/* SPDX-License-Identifier: MIT */
/*
 * Candidates from branches that a run did not take: one program, one walk of it.
 *
 * An edge is cold if the whole walk never took it, although it came to its branch. From each, once a thread, the region
 * behind it is gone through with what the thread had at that moment (region.h). After the walk, what is in the regions
 * is paired with what the run did (triple.h).
 */
#ifndef FISSION_SYMBOLIC_SPECULATE_H
#define FISSION_SYMBOLIC_SPECULATE_H

#include "symbolic/triple.h"

struct speculation {
	struct arena *arena;
	struct units units;
	struct follow follow;
	struct triples triples;
	struct map hot;      /* (branch, edge): taken */
	struct map done;     /* (branch, edge, thread): gone through */
	struct map cold;     /* (branch, edge): met and never taken */
	struct region **region;
	size_t regions, region_room;
	uint64_t edges;      /* cold ones, that were met while there were other threads */
	uint64_t aborts;     /* regions of which no way comes to an end */
	uint64_t known, unknown, deep, cut_short; /* sums over regions */
};

/* False with a fault if one of them cannot be read. */
bool speculate(struct speculation *s, struct arena *a, const char *const paths[2], struct fault *fault);

#endif
