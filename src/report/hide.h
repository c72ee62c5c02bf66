/* SPDX-License-Identifier: MIT */
/*
 * Whether a finding is shown, and if not, why: every rule that hides one is here.
 *
 * A finding is hidden by a person (a suppression; the baseline, for readers who want only what is new) or by us (a
 * rule of its rank, a rank that was not asked for, the same code told already). The facts come from elsewhere:
 * policy/rank.c gives each finding its rank, policy/suppressions.c and report/baseline.c read files. What they mean for
 * the reader, for the exit status and for the counts is decided here, and every form of a report asks here. Machines
 * are told of all findings, with the reason.
 */
#ifndef FISSION_REPORT_HIDE_H
#define FISSION_REPORT_HIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "finding/finding.h"
#include "policy/suppressions.h"

struct baseline;
struct look;
struct story;
struct story_finding;

/* The first one that holds is told. */
enum hiding {
	HIDE_NOT,
	HIDE_SUPPRESSED, /* by a line of a suppression file */
	HIDE_KNOWN,      /* it is in the baseline, and only new ones are asked for */
	HIDE_RULE,       /* by a rule of its rank */
	HIDE_RANK,       /* its rank is worse than what is asked for */
	HIDE_AGAIN,      /* the same code is shown with another variable */
	HIDINGS
};

struct hiding_info {
	const char *word; /* for machines: "suppressed" */
	const char *why;  /* for people */
	bool counts;      /* it still makes the exit status 66, if it is at or above --fail-on */
};

extern const struct hiding_info hiding_info[HIDINGS];

/* Why it is not shown to a reader who did not ask for hidden ones: see look_shows(). `new_only`: the baseline hides. */
enum hiding hide_why(const struct story *s, const struct story_finding *f, bool new_only);

/* The same for a reader who may have asked for hidden ones, too: HIDE_NOT is what look_shows() shows. */
enum hiding look_hides(const struct look *look, const struct story *s, const struct story_finding *f);

/* --fail-on: what makes the exit status 66. */
struct threshold {
	enum verdict verdict; /* at least */
	unsigned rank;        /* at most */
};

/* Whether the finding counts, and is at or above the threshold; whether any is. */
bool hide_counts(const struct story *s, const struct story_finding *f, struct threshold t, bool new_only);
bool hide_reaches(const struct story *s, struct threshold t, bool new_only);

/* The same while the run goes on, as far as is known by then: what people have accepted is not. */
bool hide_reached(const struct findings *f, struct threshold t);

/*
 * Marks what the lines suppress and counts what each has matched; the story then has the lines, too. What an earlier
 * list has marked is forgotten. Expired lines match and do not suppress.
 */
void hide_suppressed(struct story *s, struct suppressions *list);

/* Marks what the baseline knows, and forgets what another one did. */
void hide_known(struct story *s, const struct baseline *b);

/*
 * Where what a finding would repeat is suppressed or known, it is to be shown itself. To be called when both are
 * marked.
 */
void hide_settle(struct story *s, bool new_only);

/*
 * The names of a finding that a kind of line looks at, in order: called with *at = 0, and again until the name is
 * empty.
 */
struct text hide_name(const struct story *s, const struct story_finding *f, enum suppression_kind kind, size_t *at);

/* Whether the line, expired or not, is about the finding. */
bool hide_matches(const struct story *s, const struct story_finding *f, const struct suppression *line);

#endif
