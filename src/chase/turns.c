/* SPDX-License-Identifier: MIT */
#include "turns.h"

#include "chase/judge.h"
#include "chase/milestones.h"
#include "sched/order.h"

/* The dense number of a thread by that of its creation; UINT32_MAX: it did nothing. */
static uint32_t find(const struct judged *j, uint32_t thread)
{
	const struct whole *w = &j->whole;

	for (uint32_t i = 0; i < w->steps; i++)
		if (judged_thread(j, w->event[w->step[i].event].thread) == thread)
			return w->step[i].thread;
	return UINT32_MAX;
}

/* NO_STEP: there is none. */
static uint32_t last_release(const struct whole *w, uint32_t t)
{
	uint32_t last = NO_STEP;

	for (uint32_t i = 0; i < w->steps; i++)
		if (w->step[i].thread == t && w->step[i].kind == STEP_RELEASE)
			last = i;
	return last;
}

struct order *turns_begin(const struct judged *j, uint32_t thread, struct arena *a)
{
	const struct whole *w = &j->whole;
	uint32_t t = find(j, thread);

	for (uint32_t i = 0; i < w->steps; i++)
		if (w->step[i].thread == t) {
			struct milestone at = {.event = w->step[i].event};
			struct milestones m = {j, &at, 1};

			return milestones_order(a, &m);
		}
	return NULL;
}

void turns_between(struct turns *turns, const struct judged *j, struct arena *a)
{
	const struct whole *w = &j->whole;
	uint32_t t = find(j, turns->thread), u = find(j, turns->other), last = last_release(w, t);

	turns->count = 0;
	for (uint32_t i = 0; u != UINT32_MAX && last != NO_STEP && i < last && turns->count < TURNS_MOST; i++) {
		struct milestone at[] = {{.event = w->step[i].event}, {.event = w->step[whole_last_step(w, u)].event}};
		struct milestones m = {j, at, 2};

		if (w->step[i].thread == t && w->step[i].kind == STEP_RELEASE)
			turns->order[turns->count++] = milestones_order(a, &m);
	}
}
