/* SPDX-License-Identifier: MIT */
/* Why it is wrong, how sure that is and what stands in the way, and why it matters: paragraphs of the text report. */
#ifndef FISSION_REPORT_TEXT_WHY_H
#define FISSION_REPORT_TEXT_WHY_H

#include "report/pen.h"
#include "report/story.h"

/* "Why:": from what each order leaves in the variable, where that is known; otherwise from the order itself. */
void why_draw(struct pen *p, const struct story *s, const struct story_finding *f);

/* "Not predicted:" and what keeps it from being surer; nothing if nothing does. */
void why_draw_hindrance(struct pen *p, const struct story *s, const struct story_finding *f);

/* "Rank:" and all that speaks for it, what decides first. */
void why_draw_rank(struct pen *p, const struct story_finding *f);

/* "Values: no serial order of the blocks explains what was read.", if somebody has looked. */
void why_draw_values(struct pen *p, const struct story_finding *f);

/* The reason in the title: evidence says more than that the block was declared. */
struct text why_headline(const struct story_finding *f);

/* Appends "data race on 'x': write a.c:7 in thread T1, read b.c:3 in thread T2". */
void why_add_hazard(struct str *to, const struct story *s, const struct story_hazard *h, struct harmless how);

#endif
