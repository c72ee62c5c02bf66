/* SPDX-License-Identifier: MIT */
/*
 * The files with which people accept findings, as options: --suppressions, --baseline, --new-only. For every command
 * that shows findings.
 */
#ifndef FISSION_CLI_ACCEPT_H
#define FISSION_CLI_ACCEPT_H

#include <stdbool.h>

#include "base/opts.h"
#include "policy/suppressions.h"
#include "report/baseline.h"

struct story;

/* Where they are looked for if nothing is said. */
#define SUPPRESSIONS_FILE "fission.supp"
#define BASELINE_FILE "fission.baseline"

struct accept_options {
	const char *suppressions; /* files with commas; "" for none; NULL for SUPPRESSIONS_FILE, if it exists */
	const char *baseline;     /* NULL: none, or with new_only BASELINE_FILE */
	bool new_only;
};

/* As the command line has it: the options write there. */
extern struct accept_options accept_chosen;
extern const struct opt accept_options[];

/* What the files say. */
struct accepted {
	struct suppressions suppressions;
	struct baseline baseline;
	bool has_suppressions, has_baseline, new_only;
};

/*
 * Reads the files. A mistake ends the tool. Locks that they teach go to `rules`; that is NULL for a run that is over, in
 * which what is known is marked already: only otherwise does --new-only need a baseline.
 */
void accept_read(struct accepted *h, struct arena *a, struct rules *rules);

/* Marks the findings. Where no file was read, what the story says stands. */
void accept_apply(struct accepted *h, struct story *s);

/* Today, or the end of the tool if the environment has it wrong. */
date accept_today(void);

#endif
