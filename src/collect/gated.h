/* SPDX-License-Identifier: MIT */
/*
 * The collector's side of a controlled run: from the entries that the gate leaves at each change of threads, the order
 * that was executed, as segments for the strategy `replay`; and in words who waits for what.
 *
 * Only the first process is under control.
 */
#ifndef FISSION_COLLECT_GATED_H
#define FISSION_COLLECT_GATED_H

#include <stddef.h>

#include "collect/collect.h"
#include "collect/merge.h"
#include "collect/naming.h"

struct segment {
	uint32_t thread, kind, run, flags;
	uint64_t pc;
};

struct gated_run {
	struct arena *arena;
	struct naming *naming;
	struct merge_listener to; /* who takes the entries besides */
	struct segment *segments;
	size_t count, capacity;
	uint32_t *numbers; /* thread by ring; 0: of another process */
	size_t rings;
};

void gated_init(struct gated_run *g, struct arena *a, struct naming *n, struct merge_listener to);

/* Between the merge and `to`. */
struct merge_listener gated_listener(struct gated_run *g);

/* At the end: everything that is known of the run. */
void gated_tell(struct gated_run *g, const struct channel *c, const struct order *o, struct gated *out);

/* What each thread of the first process is at, a line each; from the arena. */
const char *gated_stands(struct gated_run *g, struct channel *c);

#endif
