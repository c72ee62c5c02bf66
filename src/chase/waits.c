/* SPDX-License-Identifier: MIT */
#include "waits.h"

#include <string.h>

#include "base/arena.h"
#include "chase/execute.h"
#include "chase/judge.h"
#include "chase/milestones.h"
#include "check/check.h"
#include "check/run.h"
#include "finding/finding.h"
#include "sched/order.h"

static void look_for(const struct judged *j, const struct policy *policy, struct findings *to)
{
	struct execution *x = j->execution;
	const struct check *deadlocks = check_named("deadlocks", strlen("deadlocks"));
	struct run_setup setup = {.lenient = true, .policy = policy, .checks = &deadlocks, .count = 1};
	struct run *run;

	findings_init(to, &x->arena, &x->tables);
	run = run_new(&x->arena, &x->tables, to, &setup);
	run_events(run, j->whole.event, j->whole.count);
	run_finish(run);
	findings_finish(to);
}

/* Of each thread's two acquires the first: what it holds. Events are numbered from 1. */
static struct order *order_of(const struct judged *j, const struct hazard *h, struct arena *a)
{
	struct milestone *at = arena_alloc(a, h->count * sizeof *at);
	struct milestones m = {j, at, 0};

	for (size_t i = 0; i < h->count; i += 2)
		if (h->at[i].seq && h->at[i].seq <= j->whole.count)
			at[m.count++] = (struct milestone){.event = (uint32_t)(h->at[i].seq - 1)};
	return milestones_order(a, &m);
}

size_t waits_orders(const struct judged *j, const struct policy *policy, struct arena *a, struct order *to[WAITS_MOST])
{
	struct findings found;
	size_t n = 0;

	look_for(j, policy, &found);
	for (size_t i = 0; i < found.hazards && n < WAITS_MOST; i++)
		if (found.hazard[i]->kind == HAZARD_DEADLOCK)
			to[n++] = order_of(j, found.hazard[i], a);
	return n;
}
