/* SPDX-License-Identifier: MIT */
/*
 * Who finds other inputs for a search: the seam between the schedules that chase tries and the inputs that symbolic/
 * solves for. 002, Algorithm 1: a plan says which thread is to reach what; if that thread's branches led away from it,
 * inputs are looked for that lead there, and the plan is tried again with them.
 *
 * The search asks for a place for the walk of each execution, and tells how that went; in between it may ask for other
 * inputs. Whoever steers decides when there are no more.
 */
#ifndef FISSION_CHASE_STEER_H
#define FISSION_CHASE_STEER_H

#include <stdbool.h>
#include <stdint.h>

struct inputs;
struct order;

/* An execution, as it went. */
struct steer_run {
	const struct inputs *inputs;
	struct order *by;
	uint32_t missed; /* the thread that did not come to its milestone; 0: all was done, or there was nothing to do */
	bool fresh;      /* it brought something new: candidates, reads, violations */
};

/* What is to be tried. */
struct steer_try {
	const struct inputs *inputs;
	struct order *order; /* NULL: freely */
};

struct steer {
	void *self;
	const char *(*walk)(void *self);                             /* where the next execution's walk goes; NULL: nowhere */
	void (*learn)(void *self, const struct steer_run *run);      /* after each execution */
	bool (*next)(void *self, struct steer_try *to);              /* false: there are no others */
};

#endif
