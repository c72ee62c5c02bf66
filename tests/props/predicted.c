/* SPDX-License-Identifier: MIT */
/*
 * What sidetrack is sure of, before brute force: on small random traces every prediction that races and deadlocks have
 * left standing is a correct reordering of the trace (reorder.h), every observation a block that data has split
 * (oracle.h), and every path starts and ends in its block.
 *
 *   predicted [--count N] [--seed S] [--jobs J]
 *
 * Trace number i is made from seed S + i: half of them have locks only (random_locks.h), three in eight get a few
 * other kinds of synchronisation put in, one in eight has everything (random_trace.h). The first one with a false
 * report is printed, and the exit status is 1. Printed are also how many predictions were taken back for a race or a
 * deadlock, and how many of those the judge would have confirmed: what the caution costs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/opts.h"
#include "base/rng.h"
#include "check/check.h"
#include "check/oracle.h"
#include "check/run.h"
#include "check/sidetrack.h"
#include "event/tables.h"
#include "finding/finding.h"
#include "legal.h"
#include "random_locks.h"
#include "random_trace.h"
#include "reorder.h"
#include "spare.h"

enum { TOLD_MOST = 256, JOBS_MOST = 64 };

struct trial {
	struct event events[RANDOM_LOCKS_MOST];
	size_t count;
	struct tables tables;
	struct arena arena;
	struct findings findings;
	struct oracle_verdict verdict;
	struct sidetrack_report told[TOLD_MOST];
	struct link path[TOLD_MOST][2];
	size_t tolds;
};

enum total {
	TRACES, SUSPECTED, OBSERVED,
	PREDICTED_AFTER, PREDICTED_BEFORE, UNDECIDED,
	HINDERED_RACE, RACE_NEEDLESS,
	HINDERED_DEADLOCK, DEADLOCK_NEEDLESS,
	POSSIBLE, /* suspected with data, but the judge says that the culprit fits */
	IMPOSSIBLE,
	TOTALS
};

static const char *const total_text[TOTALS] = {
	[TRACES] = "traces", [SUSPECTED] = "suspected", [OBSERVED] = "observed, all of them split by data",
	[PREDICTED_AFTER] = "predicted AFTER, all confirmed", [PREDICTED_BEFORE] = "predicted BEFORE, all confirmed",
	[UNDECIDED] = "predictions that the judge could not decide",
	[HINDERED_RACE] = "predictions that a race is in the way of", [RACE_NEEDLESS] = "of those possible all the same",
	[HINDERED_DEADLOCK] = "predictions that a deadlock is in the way of",
	[DEADLOCK_NEEDLESS] = "of those possible all the same",
	[POSSIBLE] = "suspected with data though possible", [IMPOSSIBLE] = "suspected with data and impossible",
};

/* ---- The trace and the run. ---- */

/* Objects that no lock program has. */
enum { SEMAPHORE = LEGAL_SYNCS - 3, CONDITION, BARRIER, ATOMIC = 4 };

static uint32_t add_name(struct trial *t, enum table_class class, const char *name)
{
	return intern_add(&t->tables.names[class], name, strlen(name));
}

static void name_more(struct trial *t)
{
	while (add_name(t, TABLE_SYNC, (char[]){'y', (char)('0' + t->tables.names[TABLE_SYNC].count), 0}) < BARRIER)
		continue;
	add_name(t, TABLE_OBJECT, "atomic");
}

/* An event of the thread that is no lock's; a wait is for some lock, held or not. */
static struct event other_event(struct rng *rng, thread_id thread)
{
	static const uint8_t kinds[] = {EVENT_SEM_POST, EVENT_SEM_POST, EVENT_SEM_WAIT, EVENT_ATOMIC_STORE,
		EVENT_ATOMIC_LOAD, EVENT_ATOMIC_RMW, EVENT_WAIT, EVENT_WAIT, EVENT_BARRIER};
	struct event e = {.kind = kinds[rng_below(rng, sizeof kinds)], .thread = thread, .object = SEMAPHORE};

	if (e.kind == EVENT_WAIT) {
		e.object = CONDITION;
		e.mutex = 1 + rng_below(rng, 3);
	} else if (e.kind == EVENT_BARRIER) {
		e.object = BARRIER;
		e.count = 2;
	} else if (event_is_access(e.kind)) {
		e.object = ATOMIC;
		e.order = ORDER_SEQ_CST;
	}
	return e;
}

static void insert(struct trial *t, size_t at, struct event e)
{
	memmove(&t->events[at + 1], &t->events[at], (t->count - at) * sizeof e);
	e.site = t->events[at + 1].site;
	t->events[at] = e;
	t->count++;
}

/* Puts it before an event of its thread, with its partner if it is a barrier; not if that makes it no trace. */
static void try_insert(struct trial *t, struct rng *rng)
{
	size_t at = rng_below(rng, (uint32_t)t->count), count = t->count;
	struct event e = other_event(rng, t->events[at].thread), before[RANDOM_LOCKS_MOST];

	memcpy(before, t->events, sizeof before);
	insert(t, at, e);
	if (e.kind == EVENT_BARRIER) {
		e.thread = e.thread % 2 + 1;
		insert(t, at + rng_below(rng, 2), e);
	}
	if (legal_trace(t->events, t->count))
		return;
	memcpy(t->events, before, sizeof before);
	t->count = count;
}

static void draw(struct trial *t, uint64_t seed)
{
	struct rng rng = {~seed};
	bool more = seed % 8 >= 4;
	struct random_locks p = random_locks_draw(seed, 18 + rng_below(&rng, REORDER_EVENTS_MOST - (more ? 25 : 17)));

	tables_init(&t->tables, &t->arena);
	if (seed % 8 == 7) {
		t->count = random_trace(seed, &t->tables, t->events);
		return;
	}
	p.locks = 1 + p.locks % 3;
	t->count = random_locks(&p, seed, &t->tables, t->events);
	name_more(t);
	for (int i = 0; more && i < 6 && t->count + 2 <= REORDER_EVENTS_MOST; i++)
		try_insert(t, &rng);
	for (size_t i = 0; i < t->count; i++)
		t->events[i].seq = i + 1;
}

static void listen(void *self, const struct sidetrack_report *r)
{
	struct trial *t = self;

	if (t->tolds == TOLD_MOST)
		die(STATUS_UNFIT, "predicted: more than %d reports", TOLD_MOST);
	t->told[t->tolds] = *r;
	memcpy(t->path[t->tolds], r->path, sizeof t->path[0]);
	t->told[t->tolds].path = t->path[t->tolds];
	t->tolds++;
}

static void check(struct trial *t)
{
	const struct check *checks[] = {
		check_named("sidetrack", 9), check_named("races", 5), check_named("deadlocks", 9)};
	struct event copy[RANDOM_LOCKS_MOST];
	struct run *run;

	memcpy(copy, t->events, t->count * sizeof *copy);
	findings_init(&t->findings, &t->arena, &t->tables);
	run = run_new(&t->arena, &t->tables, &t->findings, &(struct run_setup){.checks = checks, .count = 3});
	sidetrack_listen(run_check_state(run, "sidetrack"), listen, t);
	if (run_events(run, copy, t->count) < t->count)
		die(STATUS_UNFIT, "predicted: the run does not take the trace");
	run_finish(run);
	findings_finish(&t->findings);
	oracle_judge(t->events, t->count, &t->arena, &t->verdict);
}

/* ---- The judgement. ---- */

/* finding.h, struct promise, read once more. */
static bool is_hindered(const struct trial *t, const struct promise *p, enum hazard_kind kind)
{
	for (size_t i = 0; i < t->findings.hazards; i++) {
		const struct hazard *h = t->findings.hazard[i];

		if (h->kind != kind)
			continue;
		if (kind == HAZARD_RACE && h->since <= p->to && h->until >= p->from)
			return true;
		for (size_t k = 0; kind == HAZARD_DEADLOCK && k < h->count; k++)
			if (h->at[k].object == p->lock)
				return true;
	}
	return false;
}

static enum reorder_answer judge(const struct trial *t, const struct sidetrack_report *r)
{
	return reorder_confirms(t->events, t->count, r->first, r->culprit, r->second);
}

static const char *judge_prediction(const struct trial *t, const struct sidetrack_report *r, unsigned long *sum)
{
	const struct promise *p = &r->evidence.promise;
	enum reorder_answer answer = judge(t, r);

	if (is_hindered(t, p, HAZARD_RACE)) {
		sum[HINDERED_RACE]++;
		sum[RACE_NEEDLESS] += answer == REORDER_YES;
	} else if (is_hindered(t, p, HAZARD_DEADLOCK)) {
		sum[HINDERED_DEADLOCK]++;
		sum[DEADLOCK_NEEDLESS] += answer == REORDER_YES;
	} else if (answer == REORDER_NO) {
		return "a prediction that cannot come true";
	} else {
		sum[answer == REORDER_UNDECIDED		? UNDECIDED
			: r->evidence.kind[0] == 'A' ? PREDICTED_AFTER
						     : PREDICTED_BEFORE]++;
	}
	return NULL;
}

static const struct oracle_activation *activation_of(const struct trial *t, const struct block *b)
{
	for (size_t i = 0; i < t->verdict.activations; i++)
		if (t->verdict.activation[i].begin == b->seq)
			return &t->verdict.activation[i];
	return NULL;
}

static bool holds(const struct oracle_activation *a, const struct access *x)
{
	return x->thread == a->thread && a->begin <= x->seq && x->seq <= a->end;
}

static const char *judge_report(const struct trial *t, const struct sidetrack_report *r, unsigned long *sum)
{
	const struct oracle_activation *a = activation_of(t, &r->block);

	if (!a || !holds(a, &r->path[0].from) || !holds(a, &r->path[1].to))
		return "a path that does not start and end in its block";
	if (r->verdict == VERDICT_PREDICTED)
		return judge_prediction(t, r, sum);
	if (r->verdict == VERDICT_OBSERVED) {
		sum[OBSERVED]++;
		return a->split[ORACLE_DATA] ? NULL : "an observation of what data has not split";
	}
	sum[SUSPECTED]++;
	if (r->path[0].data)
		sum[judge(t, r) == REORDER_YES ? POSSIBLE : IMPOSSIBLE]++;
	return NULL;
}

/* The word that goes out is one that was judged. */
static const char *judge_findings(const struct trial *t)
{
	for (size_t i = 0; i < t->findings.count; i++) {
		const struct finding *f = &t->findings.at[i];
		const struct promise *p = &f->evidence[0].promise;

		if (f->verdict == VERDICT_PREDICTED &&
			(is_hindered(t, p, HAZARD_RACE) || is_hindered(t, p, HAZARD_DEADLOCK)))
			return "a prediction with something in its way";
	}
	return NULL;
}

/* ---- One trace after the other. ---- */

static void print_trace(const struct trial *t)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct event *e = &t->events[i];

		printf("%s|%s(%s)|%s\n", tables_name(&t->tables, TABLE_THREAD, e->thread).at, event_info[e->kind].text,
			e->flags & EVENT_ADDRESSED
				? "0x..."
				: tables_name(&t->tables, event_info[e->kind].table, (uint32_t)e->object).at,
			tables_name(&t->tables, TABLE_SITE, e->site).at);
	}
}

static void print_report(uint64_t seed, const struct sidetrack_report *r, const char *wrong)
{
	printf("# predicted --seed %llu --count 1\n# %s", (unsigned long long)seed, wrong);
	if (r)
		printf(": %s of events %llu, %llu, %llu, %s", r->evidence.kind, (unsigned long long)r->first,
			(unsigned long long)r->culprit, (unsigned long long)r->second, verdict_text[r->verdict]);
	printf("\n");
}

static bool try_seed(uint64_t seed, unsigned long *sum)
{
	static struct trial t;
	const char *wrong = NULL;
	size_t i;

	t.tolds = 0;
	spare_arena(&t.arena);
	draw(&t, seed);
	check(&t);
	sum[TRACES]++;
	for (i = 0; i < t.tolds && !t.verdict.refused && !wrong; i++)
		wrong = judge_report(&t, &t.told[i], sum);
	if (wrong) {
		print_report(seed, &t.told[i - 1], wrong);
	} else {
		wrong = judge_findings(&t);
		if (wrong)
			print_report(seed, NULL, wrong);
	}
	if (wrong)
		print_trace(&t);
	fflush(stdout);
	arena_free(&t.arena);
	return !wrong;
}

struct options {
	unsigned long count, seed, jobs;
};

static _Noreturn void job_run(const struct options *o, unsigned long job, int to)
{
	unsigned long sum[TOTALS] = {0};

	for (unsigned long i = job; i < o->count; i += o->jobs)
		if (!try_seed(o->seed + i, sum))
			_exit(1);
	_exit(write(to, sum, sizeof sum) == sizeof sum ? 0 : 1);
}

/* Adds up what the jobs say. */
static bool jobs_wait(const struct options *o, int from, unsigned long *sum)
{
	unsigned long one[TOTALS];
	bool good = true;
	int status;

	for (unsigned long left = o->jobs; left > 0; left--)
		if (wait(&status) < 0 || status != 0)
			good = false;
	for (unsigned long left = o->jobs; good && left > 0; left--) {
		good = read(from, one, sizeof one) == sizeof one;
		for (size_t i = 0; i < TOTALS; i++)
			sum[i] += one[i];
	}
	return good;
}

int main(int argc, char **argv)
{
	struct options o = {.count = 100000, .seed = 1, .jobs = 1};
	const struct opt table[] = {
		{"count", 'n', OPT_COUNT, &o.count, "N", "how many traces"},
		{"seed", 's', OPT_COUNT, &o.seed, "S", "of the first trace"},
		{"jobs", 'j', OPT_COUNT, &o.jobs, "J", "how many processes share them"},
		{0},
	};
	unsigned long sum[TOTALS] = {0};
	int ends[2];

	if (opts_parse(table, "predicted", argc, argv) > 0 || o.jobs == 0 || o.jobs > JOBS_MOST)
		die(STATUS_USAGE, "predicted: no operands, and 1 to %d jobs", JOBS_MOST);
	if (pipe(ends) != 0)
		die(STATUS_UNFIT, "predicted: cannot make a pipe");
	for (unsigned long i = 0; i < o.jobs; i++)
		if (fork() == 0)
			job_run(&o, i, ends[1]);
	if (!jobs_wait(&o, ends[0], sum))
		return 1;
	for (size_t i = 0; i < TOTALS; i++)
		printf("%10lu %s\n", sum[i], total_text[i]);
	return 0;
}
