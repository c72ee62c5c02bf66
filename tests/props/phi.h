/* SPDX-License-Identifier: MIT */
/*
 * Atomizer's rules (003 Fig. 11, 13, 14, 15 and 4.3) read literally, for short traces: lock sets are masks, and every
 * open block has a phi of its own that is PreCommit or PostCommit. No code in common with src/check/atomizer.c.
 *
 * For accesses, both sides of locks, functions and declared blocks; any other operation is taken for none. Ids are
 * below 32, threads and variables below 16.
 */
#ifndef FISSION_TESTS_PROPS_PHI_H
#define FISSION_TESTS_PROPS_PHI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

enum { PHI_BLOCKS_MOST = 64 };

enum phi_rule {
	PHI_REENTRANT = 1,
	PHI_LOCAL = 2,
	PHI_LOCAL2 = 4,
	PHI_PROTECTED = 8,
	PHI_WRITE_PROTECTED = 16,
	PHI_DATA_LOCAL = 32,
	PHI_DATA_LOCAL2 = 64,
	PHI_READ_SHARED = 128,
	PHI_RULES = 256,
};

/* One activation, from its begin or enter to its end or exit, or to the end of the trace. */
struct phi_block {
	thread_id thread;
	uint64_t begin, end;
	bool function, open, committed, violated;
};

struct phi {
	struct phi_block block[PHI_BLOCKS_MOST];
	size_t count;
};

void phi_judge(const struct event *events, size_t n, unsigned rules, struct phi *to);

#endif
