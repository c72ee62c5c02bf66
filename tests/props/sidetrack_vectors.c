/* SPDX-License-Identifier: MIT */
/*
 * sidetrack before the paper: Figure 6 of SideTrack (PADTAD 2009) rule by rule, with full vectors and nothing saved,
 * must report the same (block, lock, kind) on random traces of declared blocks.
 *
 *   sidetrack_vectors [--count N] [--seed S]
 *
 * Trace number i is made from seed S + i. The first trace on which the two differ is printed, and the exit status is 1.
 *
 * Figure 6 says of AFTER only that V_m, the join of all windows, is not before C_t. Whose window that is, is the
 * blame of section 4: here of each thread the last one that is not before C_t, which exists if and only if V_m is
 * not. BEFORE comes again with each acquire after the second; as a set that is no difference.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/opts.h"
#include "base/rng.h"
#include "check/check.h"
#include "check/run.h"
#include "check/sidetrack.h"
#include "event/tables.h"
#include "finding/finding.h"
#include "random_locks.h"
#include "spare.h"

enum { T = 4, M = 4, REPORTS_MOST = 512 };

/* ---- What was reported, as a set. ---- */

struct said {
	uint64_t block; /* seq of its begin */
	uint64_t lock;
	char kind; /* its first letter */
};

struct reports {
	struct said at[REPORTS_MOST];
	size_t count;
};

static void say(struct reports *r, struct said s)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->at[i].block == s.block && r->at[i].lock == s.lock && r->at[i].kind == s.kind)
			return;
	if (r->count == REPORTS_MOST)
		die(STATUS_UNFIT, "sidetrack_vectors: more than %d reports", REPORTS_MOST);
	r->at[r->count++] = s;
}

static int said_compare(const void *left, const void *right)
{
	const struct said *a = left, *b = right;

	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	if (a->lock != b->lock)
		return a->lock < b->lock ? -1 : 1;
	return a->kind - b->kind;
}

static bool reports_equal(struct reports *a, struct reports *b)
{
	qsort(a->at, a->count, sizeof *a->at, said_compare);
	qsort(b->at, b->count, sizeof *b->at, said_compare);
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (said_compare(&a->at[i], &b->at[i]))
			return false;
	return true;
}

/* ---- Figure 6. Threads and locks count from 1. ---- */

typedef unsigned vector[T];

struct analysis {
	vector C[T], V[M], A[M], R[M];
	bool in_block[T], H[T][M], I[T][M];
	unsigned depth[T][M]; /* re-entrant acquires, which the paper filters out */
	uint64_t block[T];    /* seq of the current one's begin */
	struct {
		vector clock;
		uint64_t block;
	} window[T][M]; /* the last one */
	struct reports *reports;
};

static bool before(const vector a, const vector b)
{
	for (int t = 0; t < T; t++)
		if (a[t] > b[t])
			return false;
	return true;
}

static void join(vector a, const vector b)
{
	for (int t = 0; t < T; t++)
		if (b[t] > a[t])
			a[t] = b[t];
}

static void after_error(struct analysis *s, unsigned t, uint64_t m)
{
	bool any = false;

	for (unsigned u = 0; u < T; u++)
		if (!before(s->window[u][m].clock, s->C[t])) {
			say(s->reports, (struct said){s->window[u][m].block, m, 'A'});
			any = true;
		}
	if (any == before(s->V[m], s->C[t]))
		die(STATUS_UNFIT, "sidetrack_vectors: the blame does not fit V");
}

static void acquire(struct analysis *s, unsigned t, uint64_t m)
{
	bool second = s->in_block[t] && s->H[t][m], first = s->in_block[t] && !second;

	if (second && s->I[t][m])
		say(s->reports, (struct said){s->block[t], m, 'B'});
	if (second && !before(s->R[m], s->C[t]))
		say(s->reports, (struct said){s->block[t], m, 'I'});
	after_error(s, t, m);
	if (first) {
		s->H[t][m] = true;
		s->I[t][m] = !before(s->A[m], s->C[t]);
	}
	if (second) {
		join(s->V[m], s->C[t]);
		memcpy(s->window[t][m].clock, s->C[t], sizeof(vector));
		s->window[t][m].block = s->block[t];
	}
	memcpy(s->A[m], s->C[t], sizeof(vector));
	join(s->C[t], s->R[m]);
}

static void lock_event(struct analysis *s, unsigned t, const struct event *e)
{
	uint64_t m = e->object;

	if (e->kind == EVENT_ACQUIRE) {
		if (s->depth[t][m]++ == 0)
			acquire(s, t, m);
	} else if (--s->depth[t][m] == 0) {
		memcpy(s->R[m], s->C[t], sizeof(vector));
		s->C[t][t]++;
	}
}

static void begin(struct analysis *s, unsigned t, uint64_t seq)
{
	s->in_block[t] = true;
	s->block[t] = seq;
	memset(s->H[t], 0, sizeof s->H[t]);
	memset(s->I[t], 0, sizeof s->I[t]);
}

static void step(struct analysis *s, const struct event *e)
{
	unsigned t = e->thread, u = (unsigned)e->object;

	switch (e->kind) {
	case EVENT_BEGIN: begin(s, t, e->seq); break;
	case EVENT_END: s->in_block[t] = false; break;
	case EVENT_FORK:
		join(s->C[u], s->C[t]);
		s->C[t][t]++;
		break;
	case EVENT_JOIN:
		join(s->C[t], s->C[u]);
		s->C[u][u]++;
		break;
	case EVENT_ACQUIRE:
	case EVENT_RELEASE: lock_event(s, t, e); break;
	default: break;
	}
}

static void figure_6(const struct event *events, size_t n, struct reports *reports)
{
	struct analysis s = {.reports = reports};

	for (unsigned t = 0; t < T; t++)
		s.C[t][t] = 1;
	for (size_t i = 0; i < n; i++)
		step(&s, &events[i]);
}

/* ---- The check. ---- */

static void told(void *self, const struct sidetrack_report *r)
{
	say(self, (struct said){r->block.seq, r->lock, r->evidence.kind[0]});
}

/* Alone, or with a check that makes the run look at accesses, so that reports wait for sections to end. */
static void sidetrack(struct tables *tables, const struct event *events, size_t n, struct reports *reports, bool alone)
{
	const struct check *checks[] = {check_named("sidetrack", 9), check_named("causal", 6)};
	struct event copy[RANDOM_LOCKS_MOST];
	struct findings findings;
	struct arena a;
	struct run *run;

	memcpy(copy, events, n * sizeof *copy);
	spare_arena(&a);
	findings_init(&findings, &a, tables);
	run = run_new(&a, tables, &findings, &(struct run_setup){.checks = checks, .count = alone ? 1 : 2});
	sidetrack_listen(run_check_state(run, "sidetrack"), told, reports);
	if (run_events(run, copy, n) < n)
		die(STATUS_UNFIT, "sidetrack_vectors: the run does not take the trace");
	run_finish(run);
	arena_free(&a);
}

/* ---- One trace after the other. ---- */

static void print_reports(const char *who, const struct reports *r)
{
	printf("# %s:", who);
	for (size_t i = 0; i < r->count; i++)
		printf(" %c(block %llu, m%llu)", r->at[i].kind, (unsigned long long)r->at[i].block,
			(unsigned long long)r->at[i].lock - 1);
	printf("\n");
}

static void print_trace(const struct tables *tables, const struct event *events, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("T%u|%s(%s)\n", events[i].thread, event_info[events[i].kind].text,
			tables_name(tables, event_info[events[i].kind].table, (uint32_t)events[i].object).at);
}

static struct random_locks draw(uint64_t seed)
{
	struct rng rng = {~seed};
	struct random_locks p = random_locks_draw(seed, 24 + rng_below(&rng, 41));

	p.locks = 1 + p.locks % 3;
	p.flags &= ~(unsigned)(RANDOM_LOCKS_READERS | RANDOM_LOCKS_FUNCTIONS);
	return p;
}

static bool try_seed(uint64_t seed, unsigned long sum[3])
{
	struct random_locks p = draw(seed);
	struct reports want = {.count = 0}, alone = want, with = want;
	struct event events[RANDOM_LOCKS_MOST];
	struct tables tables;
	struct arena a;
	size_t n;
	bool equal;

	spare_arena(&a);
	tables_init(&tables, &a);
	n = random_locks(&p, seed, &tables, events);
	figure_6(events, n, &want);
	sidetrack(&tables, events, n, &alone, true);
	sidetrack(&tables, events, n, &with, false);
	equal = reports_equal(&want, &alone) && reports_equal(&want, &with);
	if (!equal) {
		printf("# sidetrack_vectors --seed %llu --count 1\n", (unsigned long long)seed);
		print_reports("Figure 6", &want);
		print_reports("sidetrack", &alone);
		print_reports("with accesses", &with);
		print_trace(&tables, events, n);
	}
	for (size_t i = 0; i < want.count; i++)
		sum[want.at[i].kind == 'B' ? 0 : want.at[i].kind == 'I' ? 1 : 2]++;
	arena_free(&a);
	return equal;
}

int main(int argc, char **argv)
{
	unsigned long count = 100000, seed = 1, sum[3] = {0};
	const struct opt table[] = {
		{"count", 'n', OPT_COUNT, &count, "N", "how many traces"},
		{"seed", 's', OPT_COUNT, &seed, "S", "of the first trace"},
		{0},
	};

	if (opts_parse(table, "sidetrack_vectors", argc, argv) > 0)
		die(STATUS_USAGE, "sidetrack_vectors: no operands");
	for (unsigned long i = 0; i < count; i++)
		if (!try_seed(seed + i, sum))
			return 1;
	printf("sidetrack_vectors: %lu traces, %lu BEFORE, %lu IN, %lu AFTER: the same from epochs and vectors\n", count,
		sum[0], sum[1], sum[2]);
	return 0;
}
