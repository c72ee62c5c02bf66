/* SPDX-License-Identifier: MIT */
/*
 * What fork, join and barriers order, in every reordering: quick answers, before anybody searches.
 *
 * Representation: a thread's steps fall into segments; a join or a departure begins a new one. A segment has, for each
 * thread, how many of its steps come before. Cost: threads times segments; where that is more than MUST_MOST nothing is
 * kept, and nothing counts as ordered.
 */
#ifndef FISSION_PREDICT_MUST_H
#define FISSION_PREDICT_MUST_H

#include <stdbool.h>
#include <stdint.h>

#include "predict/whole.h"

enum { MUST_MOST = 1 << 26 };

struct must {
	const struct whole *whole;
	uint32_t *segment; /* by step; NULL: nothing is kept */
	uint32_t *clock;   /* by segment, then thread */
};

void must_init(struct must *m, struct arena *a, const struct whole *w);

/* Whether step a comes before step b whatever happens. */
bool must_before(const struct must *m, uint32_t a, uint32_t b);

#endif
