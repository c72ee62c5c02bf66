/* SPDX-License-Identifier: MIT */
/*
 * How long plans take: bench_predict TRACE TIER WINDOW MOST tries the nearest instance (without a window: one at
 * the end of the trace) of up to MOST candidates, by one tier and one thread, and prints how many there were, how many
 * have a plan that the witness believes, how many were left undecided, the seconds, and the most nodes that an attempt
 * had.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/fail.h"
#include "event/tables.h"
#include "predict/predict.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct result {
	size_t tried, found, undecided;
	uint32_t largest;
	double seconds;
};

static void try_one(struct result *r, const struct predict_try *t, const struct witness *witness)
{
	struct prediction p;
	struct arena a;
	bool undecided = false, found;

	arena_init(&a);
	found = predict_one(t, &a, &p, &undecided);
	if (found && p.steps > r->largest)
		r->largest = p.steps;
	if (found && t->tier != TIER_C && predict_check(witness, t->w, &p, &a))
		die(STATUS_TOOL, "bench_predict: the witness does not believe a plan");
	r->found += found;
	r->undecided += undecided && !found;
	r->tried++;
	arena_free(&a);
}

static const struct instance *latest(const struct candidate *c)
{
	const struct instance *found = &c->instance[0];

	for (uint32_t i = 1; i < c->instances; i++)
		if (c->instance[i].second > found->second)
			found = &c->instance[i];
	return found;
}

int main(int argc, char **argv)
{
	struct tables tables;
	struct whole w;
	struct candidates c;
	struct witness *witness;
	struct fault fault = {0};
	struct result r = {0};
	struct arena a;
	uint32_t window;
	double start;

	if (argc != 5)
		die(STATUS_USAGE, "usage: bench_predict TRACE TIER WINDOW MOST");
	window = (uint32_t)strtoul(argv[3], NULL, 10);
	arena_init(&a);
	tables_init(&tables, &a);
	whole_init(&w, &a, &tables);
	if (!whole_read(&w, argv[1], false, &fault))
		die(fault.status, "%s", fault.text);
	c = candidates_in(&w, NULL, &a);
	witness = witness_new(&a, &w);
	start = now();
	for (size_t i = 0; i < c.count && r.tried < strtoul(argv[4], NULL, 10); i++) {
		if (!window && latest(&c.at[i])->second < w.steps - w.steps / 10)
			continue;
		try_one(&r, &(struct predict_try){&w, window ? &c.at[i].instance[0] : latest(&c.at[i]),
			(enum tier)(argv[2][0] - 'A'), window, PREDICT_BUDGET}, witness);
	}
	r.seconds = now() - start;
	printf("%zu %zu %zu %.6f %u\n", r.tried, r.found, r.undecided, r.seconds, r.largest);
	arena_free(&a);
	return 0;
}
