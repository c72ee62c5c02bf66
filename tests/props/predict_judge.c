/* SPDX-License-Identifier: MIT */
/*
 * Predictions before brute force: on small random traces, every plan of tier A and B is possible (between.h), and every
 * one is believed by the witness; what the witness refutes is a failure too. Nor does the witness believe anything of a
 * candidate that is not possible: it is shown plans of tier C, and threads mixed at random. Printed is the share of the
 * possible candidates that A finds, and that A and B find.
 *
 *   predict_judge [--count N] [--seed S]
 *
 * Trace number i is made from seed S + i; a quarter has locks only, the others get semaphores, conditions, barriers and
 * atomics put in, some are of everything. Values are few, so that many writes agree. The windows are all of the trace,
 * or, for every fourth, a few events. The first trace with a false plan is printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/opts.h"
#include "base/rng.h"
#include "between.h"
#include "event/tables.h"
#include "predict/ideal.h"
#include "predict/must.h"
#include "predict/predict.h"
#include "predict_trace.h"
#include "spare.h"

enum { TRIPLES = 8, MIXES = 6 };

enum total { TRACES, TRIED, POSSIBLE_A, FOUND_A, POSSIBLE_B, FOUND_B, UNDECIDED, GAVE_UP, SHOWN, BELIEVED, TOTALS };

static uint64_t total[TOTALS];

struct trial {
	struct predict_trace trace;
	struct witness *witness;
	struct must must;
	uint64_t seed;
};

_Noreturn static void fail(struct trial *t, const struct instance *i, const char *why)
{
	const struct whole *w = &t->trace.whole;

	predict_trace_print(&t->trace);
	printf("seed %llu: e1 at %u, e2 at %u, e3 at %u: %s\n", (unsigned long long)t->seed, w->step[i->first].event + 1,
		w->step[i->culprit].event + 1, w->step[i->second].event + 1, why);
	puts("0 passed, 1 failed");
	exit(1);
}

static enum reorder_answer ask(const struct trial *t, const struct instance *i, bool values)
{
	const struct whole *w = &t->trace.whole;
	struct between q = {w->step[i->first].event + 1, w->step[i->culprit].event + 1, w->step[i->second].event + 1, values};

	return between_possible(w->event, w->count, &q);
}

/* Whether the tier has a plan; it must be right. */
static bool find(struct trial *t, const struct instance *i, enum tier tier, uint32_t window)
{
	struct predict_try q = {&t->trace.whole, i, tier, window, PREDICT_BUDGET};
	bool gave_up = false, found;
	const char *wrong;
	struct prediction plan;
	struct arena a;

	spare_arena(&a);
	found = predict_one(&q, &a, &plan, &gave_up);
	total[GAVE_UP] += gave_up;
	wrong = found ? predict_check(t->witness, &t->trace.whole, &plan, &a) : NULL;
	if (wrong)
		fail(t, i, wrong);
	arena_free(&a);
	return found;
}

/* ---- What the witness is not to believe. ---- */

static void show(struct trial *t, struct prediction *p, enum tier as, enum reorder_answer possible)
{
	const char *wrong;
	struct arena a;

	spare_arena(&a);
	p->tier = as;
	wrong = predict_check(t->witness, &t->trace.whole, p, &a);
	total[SHOWN]++;
	total[BELIEVED] += !wrong;
	if (!wrong && possible == REORDER_NO)
		fail(t, p->instance, "the witness believes a plan, but there is no such order");
	arena_free(&a);
}

/* The steps of an ideal, mixed: each thread's own order, and e1, e2, e3 are kept. */
static void mix(const struct ideal *d, struct rng *rng, uint32_t *steps)
{
	const struct step *e = d->w->step;
	uint32_t next[64] = {0};

	for (uint32_t n = 0; n < d->nodes;) {
		uint32_t k = rng_below(rng, d->active), t = d->thread[k], step;

		if (next[k] == d->upto[t] - d->from[t])
			continue;
		step = d->step[d->base[t] + next[k]];
		if (step == d->at->culprit && next[d->slot[e[d->at->first].thread]] <= e[d->at->first].at)
			continue;
		if (step == d->at->second && next[d->slot[e[d->at->culprit].thread]] <= e[d->at->culprit].at)
			continue;
		steps[n++] = step;
		next[k]++;
	}
}

static void tempt(struct trial *t, const struct instance *i, struct rng *rng, const enum reorder_answer possible[2])
{
	struct ideal_setup setup = {&t->trace.whole, i, TIER_C, rng_below(rng, 2), 0};
	struct prediction p = {.instance = i};
	uint32_t steps[128];
	struct ideal d;
	struct arena a;

	spare_arena(&a);
	for (int n = 0; n < MIXES && ideal_make(&d, &a, &setup) && d.nodes < 128 && d.active < 64; n++) {
		mix(&d, rng, steps);
		p.step = steps;
		p.steps = d.nodes;
		show(t, &p, TIER_A, possible[0]);
		show(t, &p, TIER_B, possible[1]);
	}
	arena_free(&a);
}

static void tempt_by_tier_c(struct trial *t, const struct instance *i, const enum reorder_answer possible[2])
{
	struct predict_try q = {&t->trace.whole, i, TIER_C, 0, 0};
	struct prediction p;
	bool undecided;
	struct arena a;

	spare_arena(&a);
	if (predict_one(&q, &a, &p, &undecided)) {
		show(t, &p, TIER_A, possible[0]);
		show(t, &p, TIER_B, possible[1]);
	}
	arena_free(&a);
}

static void judge(struct trial *t, const struct instance *i, uint32_t window, struct rng *rng)
{
	bool a = find(t, i, TIER_A, window), b = find(t, i, TIER_B, window);
	enum reorder_answer by_source = ask(t, i, false), by_value = ask(t, i, true);

	if (by_source == REORDER_UNDECIDED || by_value == REORDER_UNDECIDED) {
		total[UNDECIDED]++;
		return;
	}
	if (a && by_source == REORDER_NO)
		fail(t, i, "tier A has a plan, but there is no such order");
	if (b && by_value == REORDER_NO)
		fail(t, i, "tier B has a plan, but there is no such order");
	if (by_source == REORDER_YES && (must_before(&t->must, i->culprit, i->first) ||
		must_before(&t->must, i->second, i->culprit)))
		fail(t, i, "counts as ordered by fork and join, but there is such an order");
	tempt(t, i, rng, (enum reorder_answer[]){by_source, by_value});
	tempt_by_tier_c(t, i, (enum reorder_answer[]){by_source, by_value});
	total[TRIED]++;
	if (window)
		return;
	total[POSSIBLE_A] += by_source == REORDER_YES;
	total[FOUND_A] += a;
	total[POSSIBLE_B] += by_value == REORDER_YES;
	total[FOUND_B] += a || b;
}

static void trial(uint64_t seed)
{
	struct trial t = {.seed = seed};
	struct rng rng = {seed ^ 0x5555};
	struct instance i;
	struct arena a;

	spare_arena(&a);
	predict_trace_make(&t.trace, &a, seed);
	t.witness = witness_new(&a, &t.trace.whole);
	must_init(&t.must, &a, &t.trace.whole);
	for (int n = 0; n < TRIPLES; n++)
		if (predict_trace_triple(&t.trace, &rng, &i))
			judge(&t, &i, seed % 4 == 3 ? 1 + rng_below(&rng, 12) : 0, &rng);
	total[TRACES]++;
	arena_free(&a);
}

static double percent(uint64_t part, uint64_t of)
{
	return of ? 100.0 * (double)part / (double)of : 100.0;
}

int main(int argc, char **argv)
{
	uint64_t count = 2000, seed = 1;
	struct opt table[] = {
		{"count", 0, OPT_COUNT, &count, "N", "traces"},
		{"seed", 0, OPT_COUNT, &seed, "S", "of the first"},
		{0},
	};

	if (opts_parse(table, "predict_judge", argc, argv))
		die(STATUS_USAGE, "usage: predict_judge [--count N] [--seed S]");
	for (uint64_t i = 0; i < count; i++)
		trial(seed + i);
	printf("%llu traces, %llu candidates; %llu too large for the judge; tier B gave up on %llu\n",
		(unsigned long long)total[TRACES], (unsigned long long)total[TRIED], (unsigned long long)total[UNDECIDED],
		(unsigned long long)total[GAVE_UP]);
	printf("possible by sources %llu: tier A finds %.2f %%\n", (unsigned long long)total[POSSIBLE_A],
		percent(total[FOUND_A], total[POSSIBLE_A]));
	printf("possible by values %llu: tier A finds %.2f %%, A and B %.2f %%\n", (unsigned long long)total[POSSIBLE_B],
		percent(total[FOUND_A], total[POSSIBLE_B]), percent(total[FOUND_B], total[POSSIBLE_B]));
	printf("the witness was shown %llu orders and believed %llu, none of them impossible\n",
		(unsigned long long)total[SHOWN], (unsigned long long)total[BELIEVED]);
	printf("%llu passed, 0 failed\n", (unsigned long long)total[TRIED]);
	return total[TRIED] == 0;
}
