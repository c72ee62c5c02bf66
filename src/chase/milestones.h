/* SPDX-License-Identifier: MIT */
/*
 * Events of a trace as an order for the strategy `plan`: what is to be done, by whom, and after what.
 *
 * A milestone is (thread by creation, place, how many times), so it holds for every execution of the same build. Events
 * of other processes, and of code that is in no module, are left out: nobody controls them.
 */
#ifndef FISSION_CHASE_MILESTONES_H
#define FISSION_CHASE_MILESTONES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct finding;
struct judged;
struct order;
struct order_step;
struct prediction;
struct wide;

/* One milestone. */
struct milestone {
	uint32_t event;   /* index in the trace */
	bool resumes;     /* not the event, but that its thread leaves the wait or barrier right before it */
	uint32_t flags;   /* enum order_flag */
};

struct milestones {
	const struct judged *of;
	const struct milestone *at;
	size_t count;
};

/* In the arena. */
struct order *milestones_order(struct arena *a, const struct milestones *m);

/* The event as a step of an order with all modules of the trace. False if it cannot be one. */
bool milestones_step(const struct judged *j, const struct milestone *m, struct order_step *to);

/*
 * A plan of predict: a milestone at each change of threads, and at the three accesses. With `at_once` the second access
 * comes as soon after the culprit as can be: what the plan has in between is there to keep reads as they were, and may
 * undo what the culprit did (a connection is given back before the other thread takes it). Who must give back a lock
 * first does so by itself. NULL if that is the same plan.
 */
struct order *milestones_plan(struct arena *a, const struct judged *j, const struct prediction *p, bool at_once);

/* The block up to its first access, then the others, then the second. */
struct order *milestones_wide(struct arena *a, const struct judged *j, const struct wide *d);

/* The block's first acquire, the culprit's section, the block's second acquire: a finding that only locks speak for. */
struct order *milestones_window(struct arena *a, const struct judged *j, const struct finding *f);

#endif
