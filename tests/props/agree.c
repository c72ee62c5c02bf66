/* SPDX-License-Identifier: MIT */
/*
 * Random traces before the judge and before every check: whatever they say must be the same.
 *
 *   agree [--count N] [--seed S] [--jobs J]
 *
 * Trace number i is made from seed S + i, so `--seed X --count 1` repeats one. A disagreement is
 * made as small as it goes and printed as a text trace, ready for tests/traces; the exit status is
 * 1 then.
 *
 * What is compared:
 * - a check of declared blocks finds something if and only if the judge says that the trace is not
 *   serializable, first at the event that the judge names, and something `observed` if and only if
 *   the data order alone is not;
 * - an activation that `causal` reports is split; and where one is split, it or one that begins
 *   within it is reported. Both for `observed` and the data order, and for any verdict and the full
 *   order;
 * - a finding's path is what finding.h says: it starts and ends in the block, its links are in the
 *   order that they claim, and each goes on where the one before it has ended.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/opts.h"
#include "check/check.h"
#include "check/oracle.h"
#include "check/run.h"
#include "event/tables.h"
#include "finding/finding.h"
#include "legal.h"
#include "random_trace.h"
#include "spare.h"

struct trace_events {
	struct event at[RANDOM_TRACE_MOST];
	size_t count;
};

struct disagreement {
	const char *check;
	const char *rule; /* which comparison failed; the same pointer for the same one */
	char detail[160];
};

struct totals {
	unsigned long traces, bad, activations, split;
};

/* Runs one check over a copy of the trace. False if the run calls the trace malformed. */
static bool run_check(const struct check *check, const struct trace_events *trace,
	struct tables *tables, struct arena *a, struct findings *findings)
{
	struct trace_events copy = *trace;
	struct run *run;

	findings_init(findings, a, tables);
	run = run_new(a, tables, findings, &(struct run_setup){.checks = &check, .count = 1});
	if (run_events(run, copy.at, copy.count) < copy.count)
		return false;
	run_finish(run);
	findings_finish(findings);
	return true;
}

/* ---- Comparisons: true when both agree, otherwise `d` says where they do not. ---- */

static bool differ(struct disagreement *d, const char *rule, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static bool differ(struct disagreement *d, const char *rule, const char *format, ...)
{
	va_list ap;

	d->rule = rule;
	va_start(ap, format);
	vsnprintf(d->detail, sizeof d->detail, format, ap);
	va_end(ap);
	return false;
}

static uint64_t first_seq(const struct findings *f)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < f->count; i++)
		for (size_t k = 0; k < f->at[i].evidence_count; k++)
			if (f->at[i].evidence[k].seq < first)
				first = f->at[i].evidence[k].seq;
	return first;
}

static bool any_observed(const struct findings *f)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->at[i].verdict == VERDICT_OBSERVED)
			return true;
	return false;
}

static bool declared_agrees(
	const struct findings *f, const struct oracle_verdict *v, struct disagreement *d)
{
	uint64_t bad = v->first_bad[ORACLE_FULL], data = v->first_bad[ORACLE_DATA];

	if (!bad && f->count)
		return differ(d, "false", "reports %zu, but the trace is serializable", f->count);
	if (bad && !f->count)
		return differ(d, "missed", "not serializable from event %llu on",
			(unsigned long long)bad);
	if (bad && first_seq(f) != bad)
		return differ(d, "first event", "first at event %llu, should be at %llu",
			(unsigned long long)first_seq(f), (unsigned long long)bad);
	if (data && !any_observed(f))
		return differ(d, "data missed",
			"nothing observed, but cyclic by data from event %llu",
			(unsigned long long)data);
	if (!data && any_observed(f))
		return differ(d, "data false", "something is observed, but data has no cycle");
	return true;
}

static const struct oracle_activation *activation_of(
	const struct oracle_verdict *v, const struct block *b)
{
	for (size_t i = 0; i < v->activations; i++)
		if (v->activation[i].begin == b->seq && v->activation[i].thread == b->thread)
			return &v->activation[i];
	return NULL;
}

/* What is reported is split. */
static bool report_agrees(
	const struct finding *f, const struct oracle_verdict *v, struct disagreement *d)
{
	const struct oracle_activation *a = activation_of(v, &f->block);
	enum oracle_order order = f->verdict == VERDICT_OBSERVED ? ORACLE_DATA : ORACLE_FULL;

	if (!a)
		return differ(
			d, "no activation", "reports event %llu", (unsigned long long)f->block.seq);
	if (!a->split[order])
		return differ(d, order == ORACLE_DATA ? "data false" : "false",
			"the activation from event %llu is not split",
			(unsigned long long)a->begin);
	return true;
}

static bool is_reported(
	const struct findings *f, const struct oracle_activation *a, enum verdict least)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct block *b = &f->at[i].block;

		if (f->at[i].verdict >= least && b->thread == a->thread && a->begin <= b->seq &&
			b->seq <= a->end)
			return true;
	}
	return false;
}

/* What is split is reported, or something is that begins within it. */
static bool activation_agrees(
	const struct findings *f, const struct oracle_activation *a, struct disagreement *d)
{
	if (a->split[ORACLE_DATA] && !is_reported(f, a, VERDICT_OBSERVED))
		return differ(d, "data missed", "the activation from event %llu is split by data",
			(unsigned long long)a->begin);
	if (a->split[ORACLE_FULL] && !is_reported(f, a, VERDICT_SUSPECTED))
		return differ(d, "missed", "the activation from event %llu is split",
			(unsigned long long)a->begin);
	return true;
}

static bool splits_agree(
	const struct findings *f, const struct oracle_verdict *v, struct disagreement *d)
{
	for (size_t i = 0; i < f->count; i++)
		if (!report_agrees(&f->at[i], v, d))
			return false;
	for (size_t i = 0; i < v->activations; i++)
		if (!activation_agrees(f, &v->activation[i], d))
			return false;
	return true;
}

/* The judge as a check reports in one what the others report by halves. */
static bool judge_agrees(
	const struct findings *f, const struct oracle_verdict *v, struct disagreement *d)
{
	bool bad = v->first_bad[ORACLE_FULL] != 0;

	for (size_t i = 0; i < v->activations; i++)
		if (!activation_agrees(f, &v->activation[i], d))
			return false;
	for (size_t i = 0; i < v->activations; i++)
		bad |= v->activation[i].split[ORACLE_FULL];
	if (bad != (f->count > 0))
		return differ(d, "findings", "reports %zu", f->count);
	return !v->first_bad[ORACLE_FULL] || first_seq(f) <= v->first_bad[ORACLE_FULL] ||
	       differ(d, "first event", "not as the judge itself says");
}

static bool in_block(const struct oracle_activation *a, const struct access *x)
{
	return x->thread == a->thread && a->begin <= x->seq && x->seq <= a->end;
}

/* The start of a thread that is forked and the end of one that is joined are no events. */
static bool is_fork_or_join(const struct link *l)
{
	return l->to.kind == EVENT_NONE ? l->from.kind == EVENT_FORK
					: l->from.kind == EVENT_NONE && l->to.kind == EVENT_JOIN;
}

static bool link_agrees(const struct link *l, const struct oracle_verdict *v, enum verdict verdict,
	struct disagreement *d)
{
	unsigned long long from = l->from.seq, to = l->to.seq;

	if (is_fork_or_join(l))
		return l->data || differ(d, "fork link", "event %llu is data", from);
	if (!oracle_before(v, ORACLE_FULL, from, to))
		return differ(d, "link", "event %llu is not before event %llu", from, to);
	if (l->data && !oracle_before(v, ORACLE_DATA, from, to))
		return differ(d, "data link", "event %llu is not before %llu by data", from, to);
	if (!l->data && verdict == VERDICT_OBSERVED)
		return differ(d, "observed link", "from event %llu to %llu is no data", from, to);
	return true;
}

/* Where one link ends the next goes on: in the same thread, or in one that comes after it. */
static bool links_meet(
	const struct link *l, const struct link *next, const struct oracle_verdict *v)
{
	return l->to.thread == next->from.thread ||
	       oracle_before(v, ORACLE_DATA, l->to.seq, next->from.seq);
}

static bool path_agrees(
	const struct finding *f, const struct oracle_verdict *v, struct disagreement *d)
{
	const struct oracle_activation *a = activation_of(v, &f->block);
	unsigned long long begin = f->block.seq;

	if (!a)
		return differ(d, "no activation", "reports event %llu", begin);
	if (f->links < 2)
		return differ(d, "short path", "%zu links for block from %llu", f->links, begin);
	if (!in_block(a, &f->path[0].from) || !in_block(a, &f->path[f->links - 1].to))
		return differ(d, "path ends", "not in the block from event %llu", begin);
	for (size_t i = 0; i < f->links; i++)
		if (!link_agrees(&f->path[i], v, f->verdict, d))
			return false;
	for (size_t i = 1; i < f->links; i++)
		if (!links_meet(&f->path[i - 1], &f->path[i], v))
			return differ(
				d, "path gap", "before link %zu of block from %llu", i, begin);
	return true;
}

static bool paths_agree(
	const struct findings *f, const struct oracle_verdict *v, struct disagreement *d)
{
	for (size_t i = 0; i < f->count; i++)
		if (!path_agrees(&f->at[i], v, d))
			return false;
	return true;
}

static bool is_cut(const struct event *e)
{
	return e->kind == EVENT_FORK || e->kind == EVENT_JOIN || e->kind == EVENT_WAIT ||
	       e->kind == EVENT_BARRIER;
}

/* A function holds nothing across what cuts it. */
static bool cuts_agree(
	const struct findings *f, const struct trace_events *trace, struct disagreement *d)
{
	for (size_t i = 0; i < f->count; i++)
		for (size_t k = 0; k < trace->count && !f->at[i].block.declared; k++) {
			const struct finding *of = &f->at[i];
			const struct event *e = &trace->at[k];

			if (is_cut(e) && e->thread == of->block.thread &&
				e->seq >= of->path[0].from.seq &&
				e->seq <= of->path[of->links - 1].to.seq)
				return differ(d, "across a cut", "at event %llu",
					(unsigned long long)e->seq);
		}
	return true;
}

typedef bool comparison(
	const struct findings *f, const struct oracle_verdict *v, struct disagreement *d);

static const struct {
	const char *check;
	comparison *agrees;
} comparisons[] = {
	{"velodrome", declared_agrees},
	{"aerodrome", declared_agrees},
	{"causal", splits_agree},
	{"oracle", judge_agrees},
};

/* Whether all checks agree with the judge on the trace. */
static bool all_agree(const struct trace_events *trace, struct tables *tables,
	const struct oracle_verdict *v, struct disagreement *d)
{
	bool agree = true;

	for (size_t i = 0; agree && i < sizeof comparisons / sizeof *comparisons; i++) {
		const char *name = comparisons[i].check;
		const struct check *check = check_named(name, strlen(name));
		struct findings f;
		struct arena a;

		spare_arena(&a);
		d->check = name;
		agree = run_check(check, trace, tables, &a, &f) ||
			differ(d, "malformed", "the run does not take the trace");
		agree = agree && comparisons[i].agrees(&f, v, d) && paths_agree(&f, v, d) &&
			cuts_agree(&f, trace, d);
		arena_free(&a);
	}
	return agree;
}

/* ---- Shrinking. ---- */

static bool disagrees_alike(
	const struct trace_events *trace, struct tables *tables, struct disagreement *d)
{
	struct disagreement now;
	struct oracle_verdict v;
	struct arena a;
	bool alike;

	spare_arena(&a);
	oracle_judge(trace->at, trace->count, &a, &v);
	alike = !v.refused && !all_agree(trace, tables, &v, &now) && now.check == d->check &&
		now.rule == d->rule;
	arena_free(&a);
	if (alike)
		*d = now;
	return alike;
}

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

/* Leaves out events i and j, which may be one, if the trace still is one and still tells. */
static bool shrink_by(struct trace_events *trace, struct tables *tables, size_t i, size_t j,
	struct disagreement *d)
{
	struct trace_events less;

	without(trace, i, j, &less);
	if (!legal_trace(less.at, less.count) || !disagrees_alike(&less, tables, d))
		return false;
	*trace = less;
	return true;
}

static bool shrink_once(struct trace_events *trace, struct tables *tables, struct disagreement *d)
{
	for (size_t i = 0; i < trace->count; i++)
		for (size_t j = i; j < trace->count; j++)
			if (shrink_by(trace, tables, i, j, d))
				return true;
	return false;
}

/* ---- Printing. ---- */

static const char *name_of(const struct tables *t, enum table_class class, uint64_t id)
{
	return tables_name(t, class, (uint32_t)id).at;
}

static void print_object(const struct event *e, const struct tables *t)
{
	if (e->flags & EVENT_ADDRESSED)
		printf("0x%llx", (unsigned long long)e->object);
	else
		printf("%s", name_of(t, event_info[e->kind].table, e->object));
	if (e->flags & EVENT_SIZED)
		printf(",%u", (unsigned)e->size);
}

static void print_arguments(const struct event *e, const struct tables *t)
{
	enum event_shape shape = event_info[e->kind].shape;

	if (shape != SHAPE_ORDER)
		print_object(e, t);
	if (shape == SHAPE_TWO)
		printf(",%s", name_of(t, TABLE_SYNC, e->mutex));
	if (shape == SHAPE_COUNT)
		printf(",%llu", (unsigned long long)e->count);
	if (shape == SHAPE_ATOMIC)
		printf(",");
	if (shape == SHAPE_ATOMIC || shape == SHAPE_ORDER)
		printf("%s", event_order_text[e->order]);
}

static void print_event(const struct event *e, const struct tables *t)
{
	printf("%s|%s(", name_of(t, TABLE_THREAD, e->thread), event_info[e->kind].text);
	print_arguments(e, t);
	printf(")|%s\n", name_of(t, TABLE_SITE, e->site));
}

static void print_disagreement(uint64_t seed, const struct trace_events *trace,
	const struct tables *t, const struct disagreement *d)
{
	printf("# agree --seed %llu --count 1\n", (unsigned long long)seed);
	printf("# %s: %s: %s\n", d->check, d->rule, d->detail);
	for (size_t i = 0; i < trace->count; i++)
		print_event(&trace->at[i], t);
	fflush(stdout);
}

/* ---- Traces, one after the other. ---- */

static void count(struct totals *sum, const struct oracle_verdict *v)
{
	sum->traces++;
	sum->bad += v->first_bad[ORACLE_FULL] != 0;
	sum->activations += v->activations;
	for (size_t i = 0; i < v->activations; i++)
		sum->split += v->activation[i].split[ORACLE_FULL];
}

static bool try_seed(uint64_t seed, struct totals *sum)
{
	struct trace_events trace;
	struct disagreement d = {0};
	struct oracle_verdict v;
	struct tables tables;
	struct arena a;
	bool agree;

	spare_arena(&a);
	tables_init(&tables, &a);
	trace.count = random_trace(seed, &tables, trace.at);
	oracle_judge(trace.at, trace.count, &a, &v);
	count(sum, &v);
	agree = v.refused || all_agree(&trace, &tables, &v, &d);
	if (!agree) {
		while (shrink_once(&trace, &tables, &d))
			continue;
		print_disagreement(seed, &trace, &tables, &d);
	}
	arena_free(&a);
	return agree;
}

struct options {
	unsigned long count, seed, jobs;
};

/* One job's share: every jobs-th seed. Tells its totals through the pipe. */
static _Noreturn void job_run(const struct options *o, unsigned long job, int to)
{
	struct totals sum = {0};

	for (unsigned long i = job; i < o->count; i += o->jobs)
		if (!try_seed(o->seed + i, &sum))
			_exit(1);
	_exit(write(to, &sum, sizeof sum) == sizeof sum ? 0 : 1);
}

static pid_t job_start(const struct options *o, unsigned long job, int to)
{
	pid_t pid = fork();

	if (pid < 0)
		die(STATUS_UNFIT, "agree: cannot start job %lu", job);
	if (pid == 0)
		job_run(o, job, to);
	return pid;
}

/* Waits for all; the first that fails ends the others. */
static bool jobs_wait(const pid_t *job, unsigned long jobs)
{
	bool good = true;
	int status;

	for (unsigned long left = jobs; left > 0; left--) {
		if (wait(&status) < 0 || status == 0 || !good)
			continue;
		good = false;
		for (unsigned long i = 0; i < jobs; i++)
			kill(job[i], SIGTERM);
	}
	return good;
}

static struct totals totals_read(int from, unsigned long jobs)
{
	struct totals sum = {0}, one;

	while (jobs-- > 0 && read(from, &one, sizeof one) == sizeof one) {
		sum.traces += one.traces;
		sum.bad += one.bad;
		sum.activations += one.activations;
		sum.split += one.split;
	}
	return sum;
}

int main(int argc, char **argv)
{
	struct options o = {.count = 200000, .seed = 1, .jobs = 1};
	const struct opt table[] = {
		{"count", 'n', OPT_COUNT, &o.count, "N", "how many traces"},
		{"seed", 's', OPT_COUNT, &o.seed, "S", "of the first trace"},
		{"jobs", 'j', OPT_COUNT, &o.jobs, "J", "how many processes share them"},
		{0},
	};
	struct totals sum;
	pid_t job[256];
	int ends[2];

	if (opts_parse(table, "agree", argc, argv) > 0 || o.jobs == 0 || o.jobs > 256)
		die(STATUS_USAGE, "agree: no operands, and 1 to 256 jobs");
	if (pipe(ends) != 0)
		die(STATUS_UNFIT, "agree: cannot make a pipe");
	for (unsigned long i = 0; i < o.jobs; i++)
		job[i] = job_start(&o, i, ends[1]);
	if (!jobs_wait(job, o.jobs))
		return 1;
	sum = totals_read(ends[0], o.jobs);
	printf("agree: %lu traces, %lu not serializable, %lu activations, %lu split: all agree\n",
		sum.traces, sum.bad, sum.activations, sum.split);
	return 0;
}
