/* SPDX-License-Identifier: MIT */
#include "predict.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "predict/closure.h"
#include "predict/encode.h"
#include "predict/linear.h"

static bool solve(struct closure *c, const struct predict_try *t, uint32_t *steps, bool *undecided)
{
	if (!closure_saturate(c))
		return false;
	if (t->tier == TIER_B)
		return encode_solve(c, t->budget, steps, undecided);
	return linear_make(c, steps);
}

/* With the sections that are open at e2 left open, or closed. */
static bool try_one(const struct predict_try *t, bool open, struct arena *a, struct prediction *to, bool *undecided)
{
	struct ideal_setup setup = {t->w, t->at, t->tier, open, t->window};
	struct closure c;
	struct ideal d;
	uint32_t *steps;

	if (!ideal_make(&d, a, &setup) || !closure_make(&c, a, &d))
		return false;
	steps = arena_alloc(a, (d.nodes + 1) * sizeof *steps);
	if (!solve(&c, t, steps, undecided))
		return false;
	*to = (struct prediction){.instance = t->at, .tier = t->tier, .start = d.start, .step = steps, .steps = d.nodes};
	return true;
}

bool predict_one(const struct predict_try *t, struct arena *a, struct prediction *to, bool *undecided)
{
	return try_one(t, false, a, to, undecided) || try_one(t, true, a, to, undecided);
}

const char *predict_check(const struct witness *k, const struct whole *w, const struct prediction *p, struct arena *a)
{
	struct witness_step *step = arena_alloc(a, (p->steps + 1) * sizeof *step);
	const struct instance *i = p->instance;
	struct witness_plan plan = {.step = step, .steps = p->steps, .first = w->step[i->first].event,
		.culprit = w->step[i->culprit].event, .second = w->step[i->second].event, .loc = i->loc, .block = &i->block,
		.values = p->tier == TIER_B};

	plan.before = p->start ? w->step[p->start].event : 0;
	for (uint32_t n = 0; n < p->steps; n++) {
		const struct step *s = &w->step[p->step[n]];

		step[n] = (struct witness_step){s->event, w->step_of[s->event] != p->step[n]};
	}
	return witness_refutes(k, a, &plan);
}

/* ---- All of them, side by side. ---- */

struct crew {
	const struct whole *w;
	const struct candidates *candidates;
	const struct predict_setup *setup;
	const struct witness *witness;
	struct prediction *plan; /* by candidate */
	atomic_size_t next;
};

struct worker {
	struct crew *crew;
	struct arena arena; /* of the plans that it has found */
	pthread_t thread;
};

/* The plan moves from the scratch memory into the worker's. */
static void keep(struct worker *k, struct prediction *to, const struct prediction *p)
{
	uint32_t *step = arena_alloc(&k->arena, (p->steps + 1) * sizeof *step);
	const struct candidate *of = to->candidate;
	bool undecided = to->undecided;

	memcpy(step, p->step, p->steps * sizeof *step);
	*to = *p;
	to->candidate = of;
	to->undecided = undecided;
	to->step = step;
}

/* Whether that is the candidate's plan. */
static bool try_instance(struct worker *k, struct prediction *to, const struct instance *at, enum tier tier)
{
	const struct crew *c = k->crew;
	struct predict_try t = {c->w, at, tier, c->setup->window, c->setup->budget};
	struct arena scratch;
	struct prediction plan;
	bool found;

	arena_init(&scratch);
	found = predict_one(&t, &scratch, &plan, &to->undecided);
	if (found && tier != TIER_C) {
		const char *refuted = predict_check(c->witness, c->w, &plan, &scratch);

		if (refuted)
			to->refuted = refuted;
		found = !refuted;
	}
	if (found)
		keep(k, to, &plan);
	arena_free(&scratch);
	return found;
}

static void solve_candidate(struct worker *k, struct prediction *to)
{
	const struct candidate *c = to->candidate;
	uint32_t n = k->crew->setup->instances;

	if (!n || n > c->instances)
		n = c->instances;
	for (int tier = TIER_A; tier <= (int)k->crew->setup->tier; tier++)
		for (uint32_t i = 0; i < n; i++)
			if (try_instance(k, to, &c->instance[i], (enum tier)tier))
				return;
}

static void *work(void *self)
{
	struct worker *k = self;
	size_t i;

	while ((i = atomic_fetch_add(&k->crew->next, 1)) < k->crew->candidates->count)
		solve_candidate(k, &k->crew->plan[i]);
	return NULL;
}

static void count_plan(struct predictions *to, const struct prediction *p)
{
	to->refuted += p->refuted != NULL;
	if (p->instance)
		to->found[p->tier]++;
	else if (p->undecided)
		to->undecided++;
	else
		to->without++;
}

static unsigned jobs_of(const struct predict_setup *setup, size_t count)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t jobs = setup->jobs ? setup->jobs : cores > 0 ? (size_t)cores : 1;

	return (unsigned)(jobs < count ? jobs : count);
}

/* The plans are copied into one arena, since the workers' end here. */
static void gather(struct predictions *to, struct arena *a)
{
	for (size_t i = 0; i < to->count; i++) {
		struct prediction *p = &to->at[i];
		uint32_t *step = arena_alloc(a, (p->steps + 1) * sizeof *step);

		if (p->steps)
			memcpy(step, p->step, p->steps * sizeof *step);
		p->step = step;
		count_plan(to, p);
	}
}

struct predictions predict_all(const struct whole *w, const struct candidates *c, const struct predict_setup *setup,
	struct arena *a)
{
	struct predictions plans = {.count = c->count};
	unsigned jobs = jobs_of(setup, c->count), started = 0;
	struct worker *worker = arena_alloc(a, (jobs + 1) * sizeof *worker);
	struct crew crew = {.w = w, .candidates = c, .setup = setup, .witness = witness_new(a, w)};

	plans.at = crew.plan = arena_alloc(a, (c->count + 1) * sizeof *plans.at);
	for (size_t i = 0; i < c->count; i++)
		plans.at[i].candidate = &c->at[i];
	for (unsigned i = 0; i < jobs; i++) {
		worker[i].crew = &crew;
		arena_init(&worker[i].arena);
	}
	/* The first worker is this thread; one that cannot be started is work for the others. */
	while (started + 1 < jobs && pthread_create(&worker[started + 1].thread, NULL, work, &worker[started + 1]) == 0)
		started++;
	if (jobs)
		work(&worker[0]);
	for (unsigned i = 1; i <= started; i++)
		pthread_join(worker[i].thread, NULL);
	gather(&plans, a);
	for (unsigned i = 0; i < jobs; i++)
		arena_free(&worker[i].arena);
	return plans;
}
