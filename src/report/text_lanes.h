/* SPDX-License-Identifier: MIT */
/*
 * The picture of a finding: a row a step, a column a thread, the window between two rules.
 *
 * Columns are as wide as what stands in them. Where they do not fit the terminal, the first thing to go is the room for
 * the role behind each column but the last, which then stands in the next column's room, as nothing else of that row
 * does; then the values at the right; then the columns: with thin rails the thread's name stands in each row. More than
 * three threads have rails always.
 */
#ifndef FISSION_REPORT_TEXT_LANES_H
#define FISSION_REPORT_TEXT_LANES_H

#include "report/pen.h"
#include "report/story.h"

struct lanes;

/* The layout of the finding's events. Lives in the arena of the pen's text. */
struct lanes *lanes_new(struct pen *pen, const struct story *s, const struct story_finding *f);

/* How many columns the picture takes. */
unsigned lanes_width(const struct lanes *l);

void lanes_draw(struct lanes *l);

#endif
