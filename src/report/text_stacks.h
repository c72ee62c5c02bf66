/* SPDX-License-Identifier: MIT */
/*
 * Who did it: the stack of each access with the source beside it, the locks it held, where each thread came from.
 */
#ifndef FISSION_REPORT_TEXT_STACKS_H
#define FISSION_REPORT_TEXT_STACKS_H

#include "report/pen.h"
#include "report/story.h"

/* Each access that has a role, and then where its thread was created. */
void stacks_draw(struct pen *p, const struct story *s, const struct story_finding *f);

/*
 * The Atomizer's three stacks: where the block was entered, where it commits, and what cannot be moved back to there.
 * Of a finding with a culprit the commit is the first unlock from FIRST on, and the violation the last lock up to
 * SECOND: what lies between them is what others can get into.
 */
void stacks_draw_reduction(struct pen *p, const struct story *s, const struct story_finding *f);

/* The pattern of the block-based algorithm: the variable, and a line an access: "T2: W @ bank.c:6". */
void stacks_draw_pattern(struct pen *p, const struct story *s, const struct story_finding *f);

#endif
