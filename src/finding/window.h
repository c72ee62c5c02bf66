/* SPDX-License-Identifier: MIT */
/*
 * The shape of a window: where its two ends stand in the source, as seen from the block.
 *
 * Both ends are looked at in the innermost function that their call stacks share, for that is where a loop would be:
 * the place of an end is where that function stands, at the end itself or at the call that leads there. Places are
 * known to the line, so that two calls on one line are not told apart from one call made twice by the place alone: ends
 * are at the same site only if all calls that lead to them are the same.
 */
#ifndef FISSION_FINDING_WINDOW_H
#define FISSION_FINDING_WINDOW_H

#include <stdint.h>

#include "finding/finding.h"

/* One end: an operation, or the section around it, from the acquire to the release. */
struct window_end {
	uint8_t kind;   /* of the operation or the acquire */
	uint64_t object;
	site_id site;
	stack_id stack;
	stack_id last; /* of the release; an operation's own again */
};

static inline struct window_end window_end_of(const struct access *a)
{
	return (struct window_end){a->kind, a->object, a->site, a->stack, a->stack};
}

/* FACT_SAME_SITE, FACT_BACKWARD, FACT_DIRECT, FACT_CALLEES: those that are known to hold. */
uint32_t window_shape(const struct tables *t, const struct block *b, const struct window_end *first,
	const struct window_end *second);

/* Where the block's own function stands at the end: a place in its source; 0 if that is not known. */
site_id window_place(const struct tables *t, const struct block *b, const struct window_end *e);

/* Of a finding, by the two operations alone. */
uint32_t window_shape_of(const struct tables *t, const struct finding *f);

#endif
