/* SPDX-License-Identifier: MIT */
/*
 * How the tool fails.
 *
 * Four kinds of failure, never mixed: a bug in us is an assert (on in release builds); wrong input or a
 * wrong environment is die(), called by commands only; an expected failure is returned as a struct fault and
 * the caller decides; inside the program under test nothing here is used at all.
 */
#ifndef FISSION_BASE_FAIL_H
#define FISSION_BASE_FAIL_H

#include <stdbool.h>
#include <stdint.h>

/* The exit statuses of the tool. A program run under it keeps its own status otherwise. */
enum status {
	STATUS_CLEAN = 0,
	STATUS_USAGE = 64,    /* wrong option, or an operand that cannot be opened */
	STATUS_TRACE = 65,    /* malformed trace */
	STATUS_FINDINGS = 66, /* findings that count */
	STATUS_UNFIT = 69,    /* the environment: disk full, output closed, out of memory */
	STATUS_TOOL = 70,     /* a failure of the tool itself */
	STATUS_CONFIG = 78,   /* bad configuration or suppression file */
};

/*
 * One expected failure, filled in by whoever found it. `status` is 0 while nothing has failed. The text names
 * the thing and, after a colon, what is wrong with it; the place stands in front of it already.
 */
struct fault {
	int status;
	char text[4608]; /* the longest path, a place in it, and a sentence */
};

static inline bool fault_is_set(const struct fault *f)
{
	return f->status != 0;
}

/* Sets the fault unless one is set already: the first failure is the one worth telling. */
void fault_set(struct fault *f, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Prints "fission: ..." on standard error and exits with the status. */
_Noreturn void die(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints "fission: ..." on standard error and goes on. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
