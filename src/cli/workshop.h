/* SPDX-License-Identifier: MIT */
/*
 * A temporary directory, and the tool itself at work in it: what `doctor` and `demo` try out is what a user would run.
 *
 * What is in the directory goes with it. FISSION_OPTIONS is kept from what is run, so that a user's settings change
 * nothing of it.
 */
#ifndef FISSION_CLI_WORKSHOP_H
#define FISSION_CLI_WORKSHOP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct workshop {
	char path[PATH_MAX]; /* of the directory; empty: there is none */
	char self[PATH_MAX]; /* the tool */
};

/* False if no directory can be made, with errno. It is also removed when a signal ends the tool. */
bool workshop_open(struct workshop *w);

void workshop_close(struct workshop *w);

/* The path of a file in it; valid until the next call. */
const char *workshop_path(const struct workshop *w, const char *name);

/* False, with errno, if the file cannot be written. */
bool workshop_put(const struct workshop *w, const char *name, const char *text);

/*
 * Runs the tool in the directory with these words, NULL at the end, its first one the command. What it says goes to the
 * file `log` there; NULL: where the tool's own goes. Returns the status that a shell would show.
 */
int workshop_run(const struct workshop *w, const char *const *words, const char *log);

/* The same, with that FISSION_OPTIONS. */
int workshop_run_with(const struct workshop *w, const char *const *words, const char *log, const char *settings);

/* The first line of a file in it that begins so, without its newline. False if there is none. */
bool workshop_line(const struct workshop *w, const char *name, const char *start, char *to, size_t size);

/* What a user has to write in front of "fission" and "fission-cc": nothing where PATH leads to them. */
const char *workshop_prefix(const struct workshop *w);

#endif
