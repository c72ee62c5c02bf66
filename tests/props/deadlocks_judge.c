/* SPDX-License-Identifier: MIT */
/*
 * `deadlocks` before the judge of predictions: small random programs without branches, all reorderings of their locks.
 *
 *   deadlocks_judge [--count N] [--seed S]
 *
 * If some reordering gets stuck, the check reports a deadlock: nothing is missed. The other way round it may err, for it
 * does not look at how locks that are given back in between order the rest: that is counted, and printed.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/opts.h"
#include "check/check.h"
#include "check/run.h"
#include "event/tables.h"
#include "finding/finding.h"
#include "random_locks.h"
#include "reorder.h"

struct totals {
	unsigned long stuck, missed, beyond, undecided;
};

/* Mostly locks, and not in one order: what the seed draws, without what keeps circles away. */
static struct random_locks parameters(uint64_t seed)
{
	struct random_locks p = random_locks_draw(seed, 24 + seed % 17);

	p.flags |= RANDOM_LOCKS_NESTED;
	p.flags &= ~(unsigned)(RANDOM_LOCKS_ORDERED | RANDOM_LOCKS_FUNCTIONS);
	p.locks = 2 + seed % 2;
	p.threads = 2 + seed / 2 % 2;
	return p;
}

static size_t reported(struct arena *a, struct tables *tables, struct event *events, size_t n)
{
	const struct check *check = check_named("deadlocks", 9);
	struct findings f;
	struct run *run;

	findings_init(&f, a, tables);
	run = run_new(a, tables, &f, &(struct run_setup){.checks = &check, .count = 1});
	if (run_events(run, events, n) < n)
		die(STATUS_TOOL, "deadlocks_judge: malformed: %s", run_wellformed(run)->why);
	run_finish(run);
	if (!f.looked[HAZARD_DEADLOCK])
		die(STATUS_TOOL, "deadlocks_judge: the search has given up");
	return f.hazards;
}

static void print(const struct event *events, size_t n, uint64_t seed)
{
	printf("missed, seed %" PRIu64 ":\n", seed);
	for (size_t i = 0; i < n; i++)
		printf("  T%u|%s(%" PRIu64 ")\n", (unsigned)events[i].thread, event_info[events[i].kind].text,
			events[i].object);
}

static void try_seed(uint64_t seed, struct totals *to)
{
	struct random_locks p = parameters(seed);
	struct event events[RANDOM_LOCKS_MOST];
	enum reorder_answer stuck;
	struct tables tables;
	struct arena a;
	size_t n, found;

	arena_init(&a);
	tables_init(&tables, &a);
	n = random_locks(&p, seed, &tables, events);
	stuck = reorder_deadlocks(events, n);
	found = reported(&a, &tables, events, n);
	to->undecided += stuck == REORDER_UNDECIDED;
	to->stuck += stuck == REORDER_YES;
	to->beyond += stuck == REORDER_NO && found;
	if (stuck == REORDER_YES && !found) {
		to->missed++;
		print(events, n, seed);
	}
	arena_free(&a);
}

int main(int argc, char **argv)
{
	unsigned long count = 5000, seed = 1;
	const struct opt table[] = {
		{"count", 'n', OPT_COUNT, &count, "N", "how many random programs"},
		{"seed", 's', OPT_COUNT, &seed, "S", "of the first one"},
		{0},
	};
	struct totals t = {0};

	if (opts_parse(table, "deadlocks_judge", argc, argv) > 0)
		die(STATUS_USAGE, "deadlocks_judge: no operands");
	for (unsigned long i = 0; i < count && t.missed < 3; i++)
		try_seed(seed + i, &t);
	printf("deadlocks_judge: %lu programs, %lu can get stuck, %lu reported beyond, %lu undecided\n", count, t.stuck,
		t.beyond, t.undecided);
	printf("%d passed, %d failed\n", !t.missed && t.stuck, t.missed || !t.stuck);
	return t.missed || !t.stuck;
}
