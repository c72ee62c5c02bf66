/* SPDX-License-Identifier: MIT */
/*
 * Blocks that others would split by two variables: what three accesses to one location do not show.
 *
 * s1 accesses x and s3 accesses y, both in one activation; another thread accesses both in conflict, near to each
 * other; or one other thread x and a third one y. A length and its text, a pointer and what it points to. These have no
 * plan by predict, which is about one location: who chases them lets the block go up to s1, then the others do theirs,
 * then comes s3, and sees what happens. Left out is what a lock that is held throughout, fork, join or a barrier exclude.
 *
 * Cost: a look at the thread's last LOOK_BACK steps for each access in a block to memory that threads share.
 */
#ifndef FISSION_PREDICT_WIDE_H
#define FISSION_PREDICT_WIDE_H

#include <stddef.h>
#include <stdint.h>

#include "check/check.h"
#include "finding/finding.h"
#include "predict/whole.h"

/* Steps of the trace. */
struct wide {
	uint32_t first, second;
	uint32_t culprit[2]; /* as they are to come; of one thread the later one alone, behind NO_STEP */
	struct block block;
};

struct wides {
	struct wide *at; /* those of one other thread first */
	size_t count;
};

/* Found as candidates are, by a check that goes along: wides_of(run, w) comes before the first event. */
extern const struct check check_wides;

void wides_of(struct run *run, const struct whole *w);

/* After the last event; in the arena. */
struct wides wides_found(struct run *run, struct arena *a);

#endif
