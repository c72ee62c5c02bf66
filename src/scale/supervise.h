/* SPDX-License-Identifier: MIT */
/*
 * A unit's own process: in a group of its own, with a limit of time, and gone when we are.
 *
 * Whatever it leaves behind in its group is ended with it. Its standard output and error are kept.
 */
#ifndef FISSION_SCALE_SUPERVISE_H
#define FISSION_SCALE_SUPERVISE_H

#include <stdbool.h>

#include "base/intern.h"

struct arena;
struct fault;

struct supervised {
	int (*run)(void *self); /* in the child; its value is the exit status */
	void *self;
	double limit;           /* seconds; 0: none */
	bool timed_out;
	int status;             /* as of a shell: its own, or 128 and the signal */
	struct text output, errors;
	double seconds;
};

/* From now on this process ends when its parent does. */
void supervise_with_parent(void);

/* False with a fault if no process can be started. */
bool supervise(struct supervised *s, struct arena *a, struct fault *fault);

#endif
