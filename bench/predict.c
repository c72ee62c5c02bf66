/* SPDX-License-Identifier: MIT */
/*
 * How long plans take: bench_predict TRACE TIER WINDOW MOST tries the nearest instance of up to MOST candidates, by one
 * tier and one thread, and prints how many there were, how many have a plan that the witness believes, how many were
 * left undecided, the seconds, and the most nodes that an attempt had.
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

int main(int argc, char **argv)
{
	struct tables tables;
	struct whole w;
	struct candidates c;
	struct witness *witness;
	struct fault fault = {0};
	struct result r = {0};
	struct arena a;
	double start;

	if (argc != 5)
		die(STATUS_USAGE, "usage: bench_predict TRACE TIER WINDOW MOST");
	arena_init(&a);
	tables_init(&tables, &a);
	whole_init(&w, &a, &tables);
	if (!whole_read(&w, argv[1], false, &fault))
		die(fault.status, "%s", fault.text);
	c = candidates_in(&w, NULL, &a);
	witness = witness_new(&a, &w);
	start = now();
	for (size_t i = 0; i < c.count && i < strtoul(argv[4], NULL, 10); i++)
		try_one(&r, &(struct predict_try){&w, &c.at[i].instance[0], (enum tier)(argv[2][0] - 'A'),
			(uint32_t)strtoul(argv[3], NULL, 10), PREDICT_BUDGET}, witness);
	r.seconds = now() - start;
	printf("%zu %zu %zu %.6f %u\n", r.tried, r.found, r.undecided, r.seconds, r.largest);
	arena_free(&a);
	return 0;
}
