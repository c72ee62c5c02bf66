/* SPDX-License-Identifier: MIT */
/* How a report is to look: what the reader has asked for, and what the terminal can show. */
#ifndef FISSION_REPORT_LOOK_H
#define FISSION_REPORT_LOOK_H

#include <stdbool.h>

struct story;
struct story_finding;

struct look {
	unsigned columns; /* of the terminal */
	bool utf8, colour, verbose;
	bool show_hidden; /* also what rules, ranks and suppressions hide */
	bool new_only;    /* not what is in the baseline */
};

/* For files and pipes: 100 columns of plain ASCII. */
extern const struct look look_plain;

/* Whether people are shown the finding. */
bool look_shows(const struct look *look, const struct story *s, const struct story_finding *f);

#endif
