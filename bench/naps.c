/* SPDX-License-Identifier: MIT */
/*
 * Units that do nothing for a given time, by any launcher: naps FISSION LAUNCHER HOSTS JOBS COUNT MILLISECONDS LIMIT
 * DEPOT
 *
 * HOSTS is a file, or "-". Prints what became of them: "done 200 lost 0 wall 5.012 cpu 0.201". For bench/scale.py, and
 * for the tests of faults.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "scale/launch.h"
#include "scale/record.h"
#include "scale/unit.h"

enum { WORDS = 9 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Seconds of a processor that this process has had, without its workers. */
static double own(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void submit(struct launch *l, const struct depot *d, struct arena *a, const unsigned long n[3])
{
	struct fault fault = {0};
	struct address id;
	struct str unit;

	str_init(&unit, a);
	unit_begin(&unit, "nap", n[2]);
	record_put_number(&unit, "milliseconds", n[1]);
	record_put_number(&unit, "number", n[0]);
	if (!depot_put_unit(d, (struct text){unit.at, unit.length}, &id, &fault))
		die(fault.status, "%s", fault.text);
	launch_submit(l, &id, (double)n[2]);
}

int main(int argc, char **argv)
{
	struct launch_setup setup = {0};
	struct fault fault = {0};
	struct depot depot;
	struct launch l;
	struct arena a;
	double start;

	if (argc != WORDS || !launcher_named(argv[2]))
		die(STATUS_USAGE, "naps FISSION LAUNCHER HOSTS JOBS COUNT MILLISECONDS LIMIT DEPOT");
	arena_init(&a);
	if (!depot_make(&depot, argv[8], &fault))
		die(fault.status, "%s", fault.text);
	setup = (struct launch_setup){launcher_named(argv[2]), &depot, strcmp(argv[3], "-") == 0 ? NULL : argv[3],
		strtoul(argv[4], NULL, 10), argv[1]};
	if (!launch_open(&l, &setup, &fault))
		die(fault.status, "%s", fault.text);
	for (unsigned long i = 0; i < strtoul(argv[5], NULL, 10); i++)
		submit(&l, &depot, &a, (unsigned long[]){i, strtoul(argv[6], NULL, 10), strtoul(argv[7], NULL, 10)});
	start = now();
	while (launch_left(&l))
		if (!launch_poll(&l, &fault))
			die(fault.status, "%s", fault.text);
	printf("done %zu lost %zu wall %.3f cpu %.3f\n", l.done, l.lost, now() - start, own());
	launch_close(&l);
	arena_free(&a);
	return STATUS_CLEAN;
}
