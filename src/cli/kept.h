/* SPDX-License-Identifier: MIT */
/* What commands do with the findings of a run: keep them, read them again, and look at them. */
#ifndef FISSION_CLI_KEPT_H
#define FISSION_CLI_KEPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/opts.h"
#include "report/look.h"
#include "report/run_dir.h"

struct arena;
struct story;
struct story_finding;

/* Where the findings come from, and which of them are wanted. */
struct kept_options {
	const char *from; /* NULL: RUN_DIR */
	bool show_hidden;
};

extern struct kept_options kept_options;

/* A row of a table of options; kept_opts has --show-hidden, too. */
#define KEPT_FROM \
	{"from", 0, OPT_TEXT, &kept_options.from, "DIR", "the run's directory, or a JSON report (default: " RUN_DIR ")"}

extern const struct opt kept_opts[];

/* Reads what --from says, or ends the tool. */
void kept_read(struct story *s, struct arena *a);

/* The finding of that id, of which the beginning is enough, with or without "fsn-". None, or two, ends the tool. */
const struct story_finding *kept_find(const struct story *s, const char *id);

/* Ends the tool if nothing may be written there: before the program runs, not after it. */
void kept_check(const char *out);
void kept_check_output(const char *path);

/* Keeps the findings; if that fails there is a warning, and the report is still to come. */
void kept_write(const struct story *s, const char *out);

/* How a report that goes to the path, "-" for standard output, is to look. */
struct look look_for(const char *path, bool show_hidden);

#endif
