/* SPDX-License-Identifier: MIT */
/*
 * What `reduction` promises, on random traces.
 *
 *   reduction_sound [--count N] [--seed S] [--events E] [--view V]
 *
 * Trace number i is made from seed S + i: every second one of structured locking (random_locks.h), the others of all
 * kinds of events in any order (random_trace.h). Two properties, and some counts:
 *
 * - Theorem 2: where no block is reported, every reordering that synchronisation allows is serializable in the data
 *   order (so by view too, which every V-th trace is asked as well), unless one of them deadlocks. For the last steps of
 *   the ladder, multilockset and acqrel; those before are Eraser's and promise nothing: how often they miss is counted;
 * - the ladder: from escape to happen-before and from multilockset to acqrel a block is reported only if, before the
 *   step, it or a block within it was. The other two steps change the race detector, and may add blocks: that is counted.
 *
 * And a table of what a policy takes for granted about events. The exit status is 1 if something does not hold; the
 * trace is printed.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/opts.h"
#include "check/check.h"
#include "check/run.h"
#include "event/tables.h"
#include "finding/finding.h"
#include "random_locks.h"
#include "random_trace.h"
#include "serial.h"
#include "short_trace.h"

enum { NONE, ESCAPE, HAPPEN_BEFORE, MULTILOCKSET, ACQREL, STEPS, LONGEST = RANDOM_LOCKS_MOST };

static const char *const step_name[STEPS] = {"none", "escape", "happen-before", "multilockset", "acqrel"};

/* Whether the step to this one only removes; whether what it accepts is atomic. */
static const bool only_removes[STEPS] = {[HAPPEN_BEFORE] = true, [ACQREL] = true};
static const bool is_sound[STEPS] = {[MULTILOCKSET] = true, [ACQREL] = true};

static struct {
	unsigned long traces, judged, atomic, by_view;
	unsigned long reported[STEPS], accepted[STEPS], missed[STEPS], removed[STEPS], added[STEPS];
} total;

struct sample {
	struct arena arena;
	struct tables tables;
	struct event at[LONGEST];
	size_t count;
};

/* Blocks that were reported. */
struct named {
	struct block block[LONGEST];
	size_t count;
};

static unsigned bits_of(const struct check *c, const char *name)
{
	const struct refinement *r = c->refinements;

	while (strcmp(r->name, name) != 0)
		r++;
	return r->bits;
}

static struct named reduction(struct sample *t, size_t step)
{
	const struct check *check = check_named("reduction", strlen("reduction"));
	unsigned bits = bits_of(check, step_name[step]);
	struct event copy[LONGEST];
	struct named named = {.count = 0};
	struct findings f;
	struct arena a;
	struct run *run;

	arena_init(&a);
	findings_init(&f, &a, &t->tables);
	memcpy(copy, t->at, t->count * sizeof *copy);
	run = run_new(&a, &t->tables, &f, &(struct run_setup){.checks = &check, .count = 1, .refinements = &bits});
	if (run_events(run, copy, t->count) < t->count)
		die(STATUS_TRACE, "reduction_sound: %s", run_wellformed(run)->why);
	run_finish(run);
	for (size_t i = 0; i < f.count; i++)
		named.block[named.count++] = f.at[i].block;
	arena_free(&a);
	return named;
}

static bool fails(const struct sample *t, const char *what, size_t step)
{
	printf("# %s: %s\n", step_name[step], what);
	for (size_t i = 0; i < t->count; i++) {
		const struct event *e = &t->at[i];

		printf("T%u|%s(", e->thread, event_info[e->kind].text);
		if (e->flags & EVENT_ADDRESSED)
			printf("0x%llx,%u)|%zu\n", (unsigned long long)e->object, e->size, i + 1);
		else
			printf("%llu)|%zu\n", (unsigned long long)e->object, i + 1);
	}
	return false;
}

/* ---- The ladder. ---- */

/* Where the activation that starts with event number `begin` ends. */
static size_t end_of(const struct sample *t, size_t begin)
{
	const struct event *b = &t->at[begin];
	uint8_t close = b->kind == EVENT_ENTER ? EVENT_EXIT : EVENT_END;
	size_t depth = 0;

	for (size_t i = begin; i < t->count; i++) {
		if (t->at[i].thread != b->thread)
			continue;
		depth += t->at[i].kind == b->kind;
		if (t->at[i].kind == close && --depth == 0)
			return i;
	}
	return t->count;
}

/* Whether it or a block within it was named. */
static bool names_within(const struct sample *t, const struct named *n, const struct block *b)
{
	size_t begin = b->seq - 1, end = end_of(t, begin);

	for (size_t i = 0; i < n->count; i++) {
		size_t other = n->block[i].seq - 1;

		if (n->block[i].thread == b->thread && other >= begin && end_of(t, other) <= end)
			return true;
	}
	return false;
}

static bool check_step(const struct sample *t, const struct named *before, const struct named *after, size_t step)
{
	size_t added = 0;

	for (size_t i = 0; i < after->count; i++)
		added += !names_within(t, before, &after->block[i]);
	total.added[step] += added > 0;
	total.removed[step] += before->count > 0 && after->count == 0;
	return !added || !only_removes[step] || fails(t, "the step adds a block", step);
}

/* ---- Soundness. ---- */

static enum reorder_answer is_atomic(const struct sample *t, bool view)
{
	enum reorder_answer answer;

	if (reorder_deadlocks(t->at, t->count) != REORDER_NO)
		return REORDER_UNDECIDED;
	answer = atomic_by_conflicts(t->at, t->count, SERIAL_DATA);
	if (answer == REORDER_YES && view) {
		total.by_view++;
		answer = atomic_by_view(t->at, t->count);
	}
	return answer;
}

static bool check_soundness(const struct sample *t, const struct named *at, bool view)
{
	enum reorder_answer atomic = is_atomic(t, view);
	bool good = true;

	if (atomic == REORDER_UNDECIDED)
		return true;
	total.judged++;
	total.atomic += atomic == REORDER_YES;
	for (size_t step = 0; step < STEPS; step++) {
		if (at[step].count)
			continue;
		total.accepted[step]++;
		total.missed[step] += atomic == REORDER_NO;
		if (atomic == REORDER_NO && is_sound[step])
			good = fails(t, "accepted, and not atomic", step);
	}
	return good;
}

static bool check_trace(struct sample *t, bool view)
{
	struct named at[STEPS];

	for (size_t step = 0; step < STEPS; step++) {
		at[step] = reduction(t, step);
		total.reported[step] += at[step].count > 0;
		if (step && !check_step(t, &at[step - 1], &at[step], step))
			return false;
	}
	return check_soundness(t, at, view);
}

/* ---- What a policy takes for granted. ---- */

/* x is raced on, y is not shared, s is guarded by m. */
static const struct {
	const char *trace;
	uint64_t from, to; /* seqs of the events that something is assumed about */
	uint8_t assumed;
	bool reported;
} assumptions[] = {
	{"8 w x; 1 begin; 1 r x; 1 w x; 1 end", 0, 0, 0, true},
	{"8 w x; 1 begin; 1 r x; 1 w x; 1 end", 4, 4, ASSUMED_MOVER, false},
	{"8 w x; 1 begin; 1 r x; 1 w x; 1 w x; 1 end", 4, 4, ASSUMED_MOVER, true},
	{"8 w x; 1 begin; 1 r x; 1 w x; 1 end", 3, 4, ASSUMED_GUARDED, false},
	{"1 begin; 1 w y; 1 w y; 1 end", 2, 2, ASSUMED_STEP, false},
	{"1 begin; 1 w y; 1 w y; 1 end", 2, 3, ASSUMED_STEP, true},
	{"1 begin; 1 acq m; 1 rel m; 1 end", 2, 3, ASSUMED_STEP, true},
	{"1 begin; 1 sem_post p; 1 sem_wait p; 1 end", 0, 0, 0, true},
	{"1 begin; 1 sem_post p; 1 sem_wait p; 1 end", 3, 3, ASSUMED_MOVER, false},
	/* guarded accesses teach nothing, those of movers do */
	{"8 w x; 1 begin; 1 r x; 1 w x; 1 end", 1, 1, ASSUMED_GUARDED, false},
	{"8 w x; 1 begin; 1 r x; 1 w x; 1 end", 1, 1, ASSUMED_MOVER, true},
	/* what is guarded is not in AcqA*Rel */
	{"8 acq m; 8 rel m; 1 begin; 1 acq m; 1 r y; 1 rel m; 1 acq m; 1 rel m; 1 acq m; 1 w s; 1 rel m; 1 end; 8 acq m; 8 w s; 8 rel m",
		0, 0, 0, false},
	{"8 acq m; 8 rel m; 1 begin; 1 acq m; 1 r y; 1 rel m; 1 acq m; 1 rel m; 1 acq m; 1 w s; 1 rel m; 1 end; 8 acq m; 8 w s; 8 rel m",
		5, 5, ASSUMED_GUARDED, true},
};

static bool check_assumptions(void)
{
	static struct sample t;
	bool good = true;

	arena_init(&t.arena);
	tables_init(&t.tables, &t.arena);
	for (size_t i = 0; i < sizeof assumptions / sizeof *assumptions; i++) {
		t.count = short_trace(assumptions[i].trace, t.at);
		for (size_t k = 0; k < t.count; k++)
			if (t.at[k].seq >= assumptions[i].from && t.at[k].seq <= assumptions[i].to)
				t.at[k].assumed = assumptions[i].assumed;
		if ((reduction(&t, ACQREL).count > 0) != assumptions[i].reported)
			good = fails(&t, "what is assumed has no effect", ACQREL);
	}
	arena_free(&t.arena);
	return good;
}

/* ---- Traces. ---- */

static bool check_seed(uint64_t seed, unsigned events, bool view)
{
	static struct sample t;
	struct random_locks p = random_locks_draw(seed, events);
	bool good;

	arena_init(&t.arena);
	tables_init(&t.tables, &t.arena);
	t.count = seed % 2 ? random_trace(seed, &t.tables, t.at) : random_locks(&p, seed, &t.tables, t.at);
	if (t.count > events)
		t.count = events;
	good = check_trace(&t, view);
	arena_free(&t.arena);
	total.traces++;
	return good;
}

static void print_totals(void)
{
	printf("%lu traces; %lu judged, %lu of them atomic, %lu also by view\n", total.traces, total.judged, total.atomic,
		total.by_view);
	printf("%-15s %10s %12s %10s %14s %12s\n", "step", "reported", "all removed", "some added", "accepted", "not atomic");
	for (size_t i = 0; i < STEPS; i++)
		printf("%-15s %10lu %12lu %10lu %14lu %12lu\n", step_name[i], total.reported[i], total.removed[i],
			total.added[i], total.accepted[i], total.missed[i]);
}

int main(int argc, char **argv)
{
	uint64_t count = 10000, seed = 1, events = 18, view = 10;
	struct opt table[] = {
		{"count", 0, OPT_COUNT, &count, "N", "how many traces"},
		{"seed", 0, OPT_COUNT, &seed, "S", "of the first one"},
		{"events", 0, OPT_COUNT, &events, "E", "of a trace, at most"},
		{"view", 0, OPT_COUNT, &view, "V", "every so many traces are judged by view, too"},
		{0},
	};

	if (opts_parse(table, "reduction_sound", argc, argv) || !view || events > REORDER_EVENTS_MOST)
		die(STATUS_USAGE, "usage: reduction_sound [--count N] [--seed S] [--events E] [--view V]");
	if (!check_assumptions())
		return 1;
	for (uint64_t i = 0; i < count; i++)
		if (!check_seed(seed + i, (unsigned)events, (seed + i) % view == 0)) {
			printf("# reduction_sound --seed %llu --count 1 --events %u\n", (unsigned long long)(seed + i),
				(unsigned)events);
			return 1;
		}
	print_totals();
	return 0;
}
