/* SPDX-License-Identifier: MIT */
/*
 * Wang and Stoller's Theorems 3, 4 and 5 (IEEE TSE 2006, section 6) as `blocks` has them, before brute force, both
 * ways: for sets of transactions without potential for deadlock, the check reports nothing if and only if every
 * reordering that keeps the synchronisation is serializable by view.
 *
 *   theorems [--theorem 3|4|5] [--count N] [--seed S]
 *
 * Theorem 3: any transactions, one variable, 1v-blocks. Theorem 4: two transactions, several variables, 1v- and
 * 2v-blocks. Theorem 5: up to three transactions, one a thread, and cycles. Trace number i is made from seed S + i. A
 * disagreement is made as small as it goes and printed as a text trace; the exit status is 1 then.
 *
 * What the theorems say is not all true. By view, a set of three and more transactions may be atomic although a pair
 * of them is not: a third one overwrites what the two did, unread. There, what is reported must not be atomic by
 * conflicts. And functions within the transactions are blocks too, so with them there may be more reports, but no
 * fewer.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/opts.h"
#include "base/rng.h"
#include "check/check.h"
#include "check/run.h"
#include "event/tables.h"
#include "finding/finding.h"
#include "legal.h"
#include "random_locks.h"
#include "serial.h"
#include "spare.h"

struct trace_events {
	struct event at[RANDOM_LOCKS_MOST];
	size_t count;
};

struct theorem {
	unsigned long number;
	const char *refinement; /* of blocks */
	unsigned threads, transactions, variables, accesses, events, flags;
};

static const struct theorem theorems[] = {
	{3, "1v", 3, 2, 1, 4, 26, RANDOM_LOCKS_ONE_VARIABLE | RANDOM_LOCKS_OUTSIDE | RANDOM_LOCKS_FORKS},
	{4, "2v", 2, 1, 3, 5, 28, 0},
	{5, "all", 3, 1, 3, 3, 27, 0},
};

struct totals {
	unsigned long traces, atomic, split, deadlock, undecided;
};

/* ---- The two sides. ---- */

static unsigned bits_of(const struct check *c, const char *name)
{
	for (const struct refinement *r = c->refinements; r->name; r++)
		if (strcmp(r->name, name) == 0)
			return r->bits;
	die(STATUS_USAGE, "theorems: blocks has no '%s'", name);
}

/* Whether `blocks` reports anything. */
static bool reports(const struct theorem *th, const struct trace_events *trace, struct tables *tables)
{
	const struct check *check = check_named("blocks", 6);
	unsigned bits = bits_of(check, th->refinement);
	struct arena a;
	struct trace_events copy = *trace;
	struct findings findings;
	struct run *run;
	bool any;

	spare_arena(&a);
	findings_init(&findings, &a, tables);
	run = run_new(&a, tables, &findings,
		&(struct run_setup){.checks = &check, .count = 1, .refinements = &bits});
	if (run_events(run, copy.at, copy.count) < copy.count)
		die(STATUS_TRACE, "theorems: %s", run_wellformed(run)->why);
	run_finish(run);
	any = findings.count > 0;
	arena_free(&a);
	return any;
}

struct walker {
	size_t depth, begun; /* of its blocks */
	size_t locks;        /* taken outside blocks and not given back */
	size_t under;        /* transactions since the first of them */
};

static bool takes(const struct event *e)
{
	return e->kind == EVENT_ACQUIRE || e->kind == EVENT_ACQUIRE_SHARED;
}

static bool gives(const struct event *e)
{
	return e->kind == EVENT_RELEASE || e->kind == EVENT_RELEASE_SHARED;
}

/* Whether no lock is held across transactions: the paper has locks within them. */
static bool walk(struct walker *w, const struct event *e)
{
	if (e->kind == EVENT_END)
		w->depth--;
	if (w->depth == 0 && takes(e))
		w->under = w->locks++ ? w->under : 0;
	if (w->depth == 0 && gives(e))
		w->locks--;
	if (w->depth == 0 && (e->kind == EVENT_BEGIN || event_is_access(e->kind)))
		w->under++;
	if (e->kind == EVENT_BEGIN)
		w->begun += w->depth++ == 0;
	return w->under < 2 || !w->locks;
}

/* Not a step of the program. */
static bool is_mark(const struct event *e)
{
	return e->kind == EVENT_END || e->kind == EVENT_ENTER || e->kind == EVENT_EXIT;
}

/* Whether the theorem speaks about the trace: where transactions are counted, a thread has one and nothing besides. */
static bool applies(const struct theorem *th, const struct trace_events *trace)
{
	struct walker w[RANDOM_LOCKS_MOST] = {0};

	for (size_t i = 0; i < trace->count; i++) {
		const struct event *e = &trace->at[i];

		if (!walk(&w[e->thread], e))
			return false;
		if (th->number == 3)
			continue;
		if (w[e->thread].begun > 1 || (w[e->thread].depth == 0 && !is_mark(e)))
			return false;
	}
	return true;
}

/* How many transactions there are. */
static size_t transactions(const struct trace_events *trace)
{
	size_t depth[RANDOM_LOCKS_MOST] = {0}, count = 0;

	for (size_t i = 0; i < trace->count; i++) {
		const struct event *e = &trace->at[i];

		if (e->kind == EVENT_END)
			depth[e->thread]--;
		else if (e->kind == EVENT_BEGIN || event_is_access(e->kind))
			count += depth[e->thread] == 0;
		depth[e->thread] += e->kind == EVENT_BEGIN;
	}
	return count;
}

static bool has_functions(const struct trace_events *trace)
{
	for (size_t i = 0; i < trace->count; i++)
		if (trace->at[i].kind == EVENT_ENTER)
			return true;
	return false;
}

enum outcome { AGREE, DISAGREE, DEADLOCK, UNDECIDED };

struct answers {
	bool reported, atomic;
};

static enum outcome compare(
	const struct theorem *th, const struct trace_events *trace, struct tables *tables, struct answers *v)
{
	enum reorder_answer stuck = reorder_deadlocks(trace->at, trace->count), atomic;

	if (!applies(th, trace) || stuck == REORDER_YES)
		return DEADLOCK;
	atomic = atomic_by_view(trace->at, trace->count);
	if (stuck != REORDER_NO || atomic == REORDER_UNDECIDED)
		return UNDECIDED;
	v->atomic = atomic == REORDER_YES;
	v->reported = reports(th, trace, tables);
	if (v->reported && has_functions(trace))
		return AGREE;
	if (v->atomic && v->reported && transactions(trace) > 2)
		v->atomic = atomic_by_conflicts(trace->at, trace->count, SERIAL_DATA) == REORDER_YES;
	return v->atomic == !v->reported ? AGREE : DISAGREE;
}

/* ---- Shrinking and printing. ---- */

static void without(const struct trace_events *trace, size_t i, size_t j, struct trace_events *to)
{
	to->count = 0;
	for (size_t k = 0; k < trace->count; k++) {
		if (k == i || k == j)
			continue;
		to->at[to->count] = trace->at[k];
		to->at[to->count].seq = to->count + 1;
		to->count++;
	}
}

static bool shrink_once(
	const struct theorem *th, struct trace_events *trace, struct tables *tables, struct answers *v)
{
	for (size_t i = 0; i < trace->count; i++)
		for (size_t j = i; j < trace->count; j++) {
			struct trace_events less;
			struct answers now;

			without(trace, i, j, &less);
			if (legal_trace(less.at, less.count) && compare(th, &less, tables, &now) == DISAGREE &&
				now.atomic == v->atomic) {
				*trace = less;
				return true;
			}
		}
	return false;
}

static void print_trace(const struct trace_events *trace, const struct tables *t)
{
	for (size_t i = 0; i < trace->count; i++) {
		const struct event *e = &trace->at[i];
		const char *object = tables_name(t, event_info[e->kind].table, (uint32_t)e->object).at;

		printf("%s|%s(%s)\n", tables_name(t, TABLE_THREAD, e->thread).at, event_info[e->kind].text,
			object ? object : "");
	}
}

/* ---- Traces, one after the other. ---- */

static struct random_locks draw(const struct theorem *th, uint64_t seed)
{
	struct rng rng = {seed ^ 0x7E03};
	struct random_locks p = {.transactions = th->transactions, .events = th->events};

	p.threads = th->number == 4 ? 2 : 2 + rng_below(&rng, th->threads - 1);
	p.variables = 1 + rng_below(&rng, th->variables);
	p.accesses = 2 + rng_below(&rng, th->accesses - 1);
	p.locks = rng_below(&rng, 4);
	p.flags = th->flags & (RANDOM_LOCKS_ONE_VARIABLE | rng_below(&rng, 256));
	p.flags |= rng_below(&rng, 64) & (RANDOM_LOCKS_NESTED | RANDOM_LOCKS_READERS);
	p.flags |= rng_below(&rng, 4) ? RANDOM_LOCKS_ORDERED : 0;
	if (p.locks && rng_below(&rng, 2))
		p.flags |= RANDOM_LOCKS_GUARDED;
	if (rng_below(&rng, 4) == 0)
		p.flags |= RANDOM_LOCKS_FUNCTIONS;
	return p;
}

static bool try_seed(const struct theorem *th, uint64_t seed, struct totals *sum)
{
	struct random_locks p = draw(th, seed);
	struct arena a;
	struct trace_events trace;
	struct tables tables;
	struct answers v;
	enum outcome outcome;

	spare_arena(&a);
	tables_init(&tables, &a);
	trace.count = random_locks(&p, seed, &tables, trace.at);
	outcome = compare(th, &trace, &tables, &v);
	sum->traces++;
	sum->deadlock += outcome == DEADLOCK;
	sum->undecided += outcome == UNDECIDED;
	sum->atomic += outcome == AGREE && v.atomic;
	sum->split += outcome == AGREE && !v.atomic;
	if (outcome == DISAGREE) {
		while (shrink_once(th, &trace, &tables, &v))
			continue;
		printf("# theorems --theorem %lu --seed %llu --count 1: %s\n", th->number, (unsigned long long)seed,
			v.atomic ? "reported, and all reorderings are serializable"
				 : "not reported, and a reordering is not serializable");
		print_trace(&trace, &tables);
	}
	arena_free(&a);
	return outcome != DISAGREE;
}

static bool try_theorem(const struct theorem *th, uint64_t seed, unsigned long count)
{
	struct totals sum = {0};

	for (unsigned long i = 0; i < count; i++)
		if (!try_seed(th, seed + i, &sum))
			return false;
	printf("theorem %lu: %lu traces, %lu atomic, %lu not, %lu left out for deadlocks, %lu undecided: all agree\n",
		th->number, sum.traces, sum.atomic, sum.split, sum.deadlock, sum.undecided);
	return sum.atomic && sum.split;
}

int main(int argc, char **argv)
{
	unsigned long theorem = 0, count = 2000, seed = 1;
	const struct opt table[] = {
		{"theorem", 't', OPT_COUNT, &theorem, "T", "3, 4 or 5; 0 for all"},
		{"count", 'n', OPT_COUNT, &count, "N", "how many traces for each"},
		{"seed", 's', OPT_COUNT, &seed, "S", "of the first trace"},
		{0},
	};
	bool good = true;

	if (opts_parse(table, "theorems", argc, argv) > 0)
		die(STATUS_USAGE, "theorems: no operands");
	for (size_t i = 0; i < sizeof theorems / sizeof *theorems; i++)
		if (!theorem || theorem == theorems[i].number)
			good &= try_theorem(&theorems[i], seed, count);
	return good ? 0 : 1;
}
