/* SPDX-License-Identifier: MIT */
/*
 * Predictions before brute force: on small random traces, every plan of tier A and B is possible (between.h), and every
 * one is believed by the witness; what the witness refutes is a failure too. Printed is the share of the possible
 * candidates that A finds, and that A and B find.
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
#include "predict/must.h"
#include "predict/predict.h"
#include "predict_trace.h"
#include "spare.h"

enum { TRIPLES = 8 };

enum total { TRACES, TRIED, POSSIBLE_A, FOUND_A, POSSIBLE_B, FOUND_B, UNDECIDED, GAVE_UP, TOTALS };

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

static void judge(struct trial *t, const struct instance *i, uint32_t window)
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
			judge(&t, &i, seed % 4 == 3 ? 1 + rng_below(&rng, 12) : 0);
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
	printf("%llu passed, 0 failed\n", (unsigned long long)total[TRIED]);
	return total[TRIED] == 0;
}
