/* SPDX-License-Identifier: MIT */
/*
 * How far long work has come, on standard error.
 *
 * On a terminal it is one line, from the second second on, that is written over and in the end erased; a message of
 * fail.h erases it, too, so that nothing is ever mixed with it. Elsewhere there is a plain line every ten seconds, if
 * that is wanted. Asking whether it is time costs a look at a coarse clock, so ask once a batch.
 */
#ifndef FISSION_BASE_PROGRESS_H
#define FISSION_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum progress_form { PROGRESS_NONE, PROGRESS_LINE, PROGRESS_PLAIN };

struct progress {
	enum progress_form form;
	const char *between; /* two parts of the line: " - " */
	double start, next;  /* seconds of the clock */
};

void progress_start(struct progress *p, enum progress_form form, bool utf8);

/* Whether something is to be shown now. */
bool progress_due(const struct progress *p);

/* Shows the text, and the time since the start. Lines that do not fit the terminal are cut. */
void progress_show(struct progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Erases the line, if one is shown. Called before anything else is written to the terminal. */
void progress_clear(void);

/* "41k", "3.2M": a number that is read at a glance. */
const char *progress_number(uint64_t n, char to[16]);

#endif
