/* SPDX-License-Identifier: MIT */
/*
 * Two runs, compared: the findings that are new, gone, and still there, by their ids, which do not change with line
 * numbers, addresses, threads or the schedule. Another schedule may still show other findings: what is gone may only
 * not have been seen.
 */
#ifndef FISSION_REPORT_DIFF_H
#define FISSION_REPORT_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "report/hide.h"

struct arena;
struct look;
struct str;
struct story;
struct story_finding;

/* One finding in both runs; NULL where it is not in one of them. */
struct diff_row {
	const struct story_finding *before, *after;
};

enum diff_kind { DIFF_NEW, DIFF_GONE, DIFF_STILL, DIFF_KINDS };

struct diff {
	const struct story *before, *after;
	struct diff_row *row[DIFF_KINDS];
	size_t count[DIFF_KINDS];
};

/* Each id once: of several findings with one id, as of two traces, the first stands for all. The stories must stay. */
void diff_make(struct diff *d, struct arena *a, const struct story *before, const struct story *after);

/* Whether any finding that is new, and that counts, has at least the verdict and at most the rank. */
bool diff_reaches(const struct diff *d, struct threshold t);

/* A line each. What is hidden is counted, and shown if the look says so. */
void diff_text(const struct diff *d, const struct look *look, struct str *to);

/* All of it; docs/diff.md describes the members. */
void diff_json(const struct diff *d, struct str *to);

#endif
