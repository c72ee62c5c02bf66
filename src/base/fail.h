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

/*
 * The exit statuses of the tool: name, number, and what the manual says of it. A program run under it keeps its own
 * status otherwise.
 */
#define STATUSES(X) \
	X(CLEAN, 0, "nothing was found that counts, or what was asked for is done") \
	X(USAGE, 64, "a mistake in the command line, or a file or program that cannot be opened or started") \
	X(TRACE, 65, "a trace or a recorded run is malformed") \
	X(FINDINGS, 66, "findings at or above --fail-on") \
	X(UNFIT, 69, "the environment is unfit: no compiler, disk full, out of memory; 'fission doctor' says more") \
	X(TOOL, 70, "a failure of Fission itself") \
	X(CONFIG, 78, "a mistake in a configuration file, a suppression file or FISSION_OPTIONS")

enum status {
#define STATUS_NUMBER(name, number, about) STATUS_##name = number,
	STATUSES(STATUS_NUMBER)
#undef STATUS_NUMBER
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
