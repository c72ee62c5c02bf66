/* SPDX-License-Identifier: MIT */
/* The end of the text report: what was left out, races and deadlocks, and one line with all counts. */
#ifndef FISSION_REPORT_TEXT_LAST_H
#define FISSION_REPORT_TEXT_LAST_H

#include "report/pen.h"
#include "report/story.h"

/* What a lenient run has mended, what a cut file has lost and what checks have left out is never silent. */
void last_draw_notes(struct pen *p, const struct story_trace *t);

/* A line for each suppression that has expired or matches nothing. */
void last_draw_suppressions(struct pen *p, const struct story *s);

/* What a search has driven the program into, as a finding of its own. */
void last_draw_failure(struct pen *p, const struct story_failure *f);

/* The places of the first races and deadlocks. */
void last_draw_hazards(struct pen *p, const struct story *s);

/* Of each lock that several of the findings shown are about, and no data: the line that would accept them all. */
void last_draw_locks(struct pen *p, const struct story *s);

void last_draw_counts(struct pen *p, const struct story *s);

#endif
