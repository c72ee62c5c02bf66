/* SPDX-License-Identifier: MIT */
/* fission predict: traces in, other orders of them out, in which code that is expected to be atomic is split. */
#include "commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/opts.h"
#include "base/output.h"
#include "chase/execute.h"
#include "chase/judge.h"
#include "chase/milestones.h"
#include "check/check.h"
#include "check/run.h"
#include "cli/accept.h"
#include "cli/kept.h"
#include "cli/manner.h"
#include "cli/plan.h"
#include "cli/scale.h"
#include "finding/finding.h"
#include "policy/policy.h"
#include "predict/candidate.h"
#include "predict/justify.h"
#include "predict/predict.h"
#include "report/report.h"
#include "sched/order.h"
#include "symbols/namer.h"

static struct {
	const char *out, *plans, *tier, *piece;
	unsigned long window, budget;
} options = {.tier = "C", .window = PREDICT_WINDOW, .budget = PREDICT_BUDGET};

/* One trace and everything that was found in it. */
struct job {
	struct arena arena;
	struct tables tables;
	struct namer namer;
	struct findings findings;
	struct policy policy;
	struct whole whole;
	struct candidates candidates;
	struct predictions predictions;
	struct fault fault;
	struct report_trace report;
};

/* ---- The run: the checks that were asked for, those that predictions rest on, and the candidates. ---- */

static void add_check(struct plan *p, const struct check *c)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->checks[i] == c)
			return;
	p->checks[p->count] = c;
	p->refinements[p->count++] = c->standard;
}

static void add_checks(struct plan *p)
{
	add_check(p, check_named("races", strlen("races")));
	add_check(p, check_named("deadlocks", strlen("deadlocks")));
	add_check(p, &check_candidates);
}

static void check_trace(struct job *j, const struct plan *p)
{
	struct run_setup setup = {p->checks, p->count, check_options.lenient, &j->policy, p->refinements, false};
	struct run *run = run_new(&j->arena, &j->tables, &j->findings, &setup);

	candidates_of(run, &j->whole);
	if (!candidates_feed(run, &j->whole))
		fault_set(&j->fault, STATUS_TRACE, "%s: %s", j->report.path, run_wellformed(run)->why);
	run_finish(run);
	j->candidates = candidates_found(run, &j->arena);
	j->report.variables = run_variables(run);
}

/* ---- What is found. ---- */

static enum tier tier_of(const char *word)
{
	return (enum tier)(*word - 'A');
}

/* By the places of a candidate: a name that other runs of the program give it, too. */
static uint64_t key_of(const struct job *j, const struct candidate *c)
{
	const site_id site[] = {c->first, c->culprit, c->second};
	uint64_t key = c->pattern;

	for (size_t i = 0; i < sizeof site / sizeof *site; i++) {
		struct text t = tables_name(&j->tables, TABLE_SITE, site[i]);

		key = hash_pair(key, hash_bytes(t.at ? t.at : "", t.length));
	}
	return key;
}

/* --piece: the candidates that are ours. */
static void keep_piece(struct job *j)
{
	struct candidates *all = &j->candidates;
	struct shard piece = {0};
	size_t kept = 0;

	if (options.piece)
		shard_parse(options.piece, &piece);
	for (size_t i = 0; i < all->count; i++)
		if (shard_has_key(piece, key_of(j, &all->at[i])))
			all->at[kept++] = all->at[i];
	all->count = kept;
}

static void predict(struct job *j)
{
	struct predict_setup setup = {tier_of(options.tier), (uint32_t)options.window, (uint32_t)options.budget, 0,
		check_options.bare ? 1 : 0}; /* a unit has one processor */

	keep_piece(j);
	j->predictions = predict_all(&j->whole, &j->candidates, &setup, &j->arena);
	for (size_t i = 0; i < j->predictions.count; i++)
		if (j->predictions.at[i].instance)
			justify(&j->findings, &j->whole, &j->predictions.at[i]);
	findings_limit(&j->findings, "candidates that tier B did not decide within its budget", j->predictions.undecided);
	findings_limit(&j->findings, "plans that the witness did not believe: a mistake of Fission's", j->predictions.refuted);
}

/* ---- Plans as files, for a controlled run. ---- */

static void write_plan(const struct order *o, unsigned number)
{
	struct output to;
	char path[4096];

	snprintf(path, sizeof path, "%s/%u.order", options.plans, number);
	if (output_open(&to, path))
		output_write(&to, o, order_bytes(o));
	if (fault_is_set(&to.fault) || !output_commit(&to))
		die(to.fault.status, "%s", to.fault.text);
}

/* By number, over all traces; a trace whose events have no addresses has no plans that a program could follow. */
static void write_plans(struct job *j, unsigned *number)
{
	struct execution x = {.tables = j->tables};
	struct judged judged = {.execution = &x, .whole = j->whole};

	judged_count(&judged, &j->arena);
	for (size_t i = 0; i < j->predictions.count; i++) {
		const struct order *o;

		if (!j->predictions.at[i].instance)
			continue;
		o = milestones_plan(&j->arena, &judged, &j->predictions.at[i], false);
		if (!o->steps)
			die(STATUS_USAGE, "%s: --plans needs a binary trace that 'fission record' has written: this one does not say "
				"where in the program its events come from", j->report.path);
		write_plan(o, ++*number);
	}
}

static void job_start(struct job *j, const char *path, const struct plan *p)
{
	arena_init(&j->arena);
	tables_init(&j->tables, &j->arena);
	namer_init(&j->namer, &j->arena, &j->tables);
	findings_init(&j->findings, &j->arena, &j->tables);
	j->policy = policy_copy(&p->policy, &j->arena);
	j->report = (struct report_trace){.path = path, .tables = &j->tables, .findings = &j->findings};
	whole_init(&j->whole, &j->arena, &j->tables);
}

static bool has_accesses(const struct whole *w)
{
	for (uint32_t i = 0; i < w->steps; i++)
		if (step_is_access(&w->step[i]))
			return true;
	return false;
}

static void job_run(struct job *j, const char *path, const struct plan *p)
{
	job_start(j, path, p);
	if (whole_read(&j->whole, path, check_options.lenient, &j->fault)) {
		check_trace(j, p);
		j->findings.recorded = j->tables.module_count > 0; /* only a recording knows what was loaded */
		predict(j);
	}
	j->report.events = j->whole.count;
	j->report.skipped = j->whole.skipped;
	j->report.cut = j->whole.cut;
	if (check_options.lenient)
		memcpy(j->report.repaired, j->whole.broken, sizeof j->report.repaired);
	if (!has_accesses(&j->whole))
		plan_say_locks(&j->report);
	findings_finish(&j->findings);
	if (fault_is_set(&j->fault)) {
		j->report.fault = j->fault.text;
		warn("%s", j->fault.text);
	}
}

/* ---- What is said. ---- */

/* How it went with the candidates: beside the report, for a person. */
static void say(const struct job *j)
{
	const struct predictions *p = &j->predictions;

	if (manner.quiet || fault_is_set(&j->fault))
		return;
	fprintf(stderr, "%s: %zu candidates: %" PRIu64 " by tier A, %" PRIu64 " by B, %" PRIu64 " by C, %" PRIu64
		" not possible, %" PRIu64 " undecided", j->report.path, p->count, p->found[TIER_A], p->found[TIER_B],
		p->found[TIER_C], p->without, p->undecided);
	for (int i = 0; i < EXCLUSIONS; i++)
		if (j->candidates.excluded[i])
			fprintf(stderr, "; %" PRIu64 " never tried: %s", j->candidates.excluded[i], exclusion_text[i]);
	fprintf(stderr, "\n");
}

/* The first fault decides, since a verdict on half of the input is none; then what was found. */
static int status_of(const struct job *jobs, size_t n, const struct story *story, const struct plan *p)
{
	for (size_t i = 0; i < n; i++)
		if (fault_is_set(&jobs[i].fault))
			return jobs[i].fault.status;
	return plan_fails(p, story) ? (int)check_options.exitcode : STATUS_CLEAN;
}

static int tell_all(const struct job *jobs, size_t n, struct plan *p, struct arena *a)
{
	struct report_trace *traces = arena_alloc(a, n * sizeof *traces);
	struct report report = {.command = "predict", .bare = check_options.bare, .fail_on = check_options.fail_on,
		.rank = p->rank, .trace = traces,
		.count = n};
	struct look look = look_for("-", check_options.show_hidden);
	struct story story;

	for (size_t i = 0; i < n; i++)
		traces[i] = jobs[i].report;
	story_tell(&story, a, &report);
	accept_apply(&p->accepted, &story);
	story.status = status_of(jobs, n, &story, p);
	look.new_only = p->accepted.new_only;
	print_report(p->renderer, &story, look, "-");
	for (size_t i = 0; i < n; i++)
		say(&jobs[i]);
	if (options.out)
		kept_write(&story, options.out);
	return story.status;
}

/* What of the options decides what is found. */
static const char *const deciding[] = {"checks", "atomic", "atomizer", "reduction", "blocks", "lenient", "tier", "window",
	"budget", NULL};

/* A trace of that many bytes is worth another process for its candidates. */
enum { PIECE_BYTES = 1 << 18, PIECES_MOST = 64 };

static size_t pieces_of(const char *path)
{
	struct stat s;
	size_t n = stat(path, &s) == 0 && s.st_size > 0 ? (size_t)s.st_size / PIECE_BYTES + 1 : 1;

	return n < PIECES_MOST ? n : PIECES_MOST;
}

static int predict_by_units(char **paths, size_t n)
{
	if (options.plans)
		die(STATUS_USAGE, "--plans goes with no unit: without -j, --launcher, --shard, --campaign and --emit-units");
	return scale_traces(&(struct scale_traces){"predict", paths, n, command_predict.options, deciding, pieces_of, "-",
		options.out});
}

static int predict_main(int argc, char **argv)
{
	size_t n = (size_t)argc - 1;
	struct plan plan;
	struct arena arena;
	struct job *jobs;
	unsigned number = 0;
	int status;

	arena_init(&arena);
	if (options.out)
		kept_check(options.out);
	if (scale_wanted())
		return predict_by_units(argv + 1, n);
	plan_make(&plan, &arena, "predict");
	add_checks(&plan);
	jobs = arena_alloc(&arena, n * sizeof *jobs);
	if (options.plans && mkdir(options.plans, 0777) != 0 && errno != EEXIST)
		die(STATUS_UNFIT, "%s: %s", options.plans, strerror(errno));
	for (size_t i = 0; i < n; i++) {
		job_run(&jobs[i], argv[i + 1], &plan);
		if (options.plans)
			write_plans(&jobs[i], &number);
	}
	status = tell_all(jobs, n, &plan, &arena);
	for (size_t i = 0; i < n; i++)
		arena_free(&jobs[i].arena);
	arena_free(&arena);
	return status;
}

static const char *tiers(size_t i, const char **about)
{
	static const char *const words[] = {"A", "B", "C", NULL};
	static const char *const abouts[] = {"every read sees the write that it saw", "every read sees the value that it saw",
		"reads see whatever there is; suspected, until it is executed"};

	if (about)
		*about = i < TIERS ? abouts[i] : NULL;
	return i < TIERS ? words[i] : NULL;
}

static const char *small_right(const char *value)
{
	return strlen(value) <= 9 ? NULL : "takes a number below a billion";
}

static const struct opt table[] = {
	{"tier", 0, OPT_TEXT, &options.tier, "TIER", "how far to go (default: C)", .values = tiers},
	{"window", 0, OPT_COUNT, &options.window, "N", "how many events are reordered (default: 1000); 0: all",
		.right = small_right},
	{"budget", 0, OPT_COUNT, &options.budget, "N", "conflicts of the solver for an attempt of tier B (default: 1000)",
		.right = small_right},
	{"plans", 0, OPT_TEXT, &options.plans, "DIR",
		"write each plan as an order for a controlled run: DIR/1.order and so on"},
	{"out", 0, OPT_TEXT, &options.out, "DIR", "keep the findings in a directory, for list, show and report"},
	{"lenient", 0, OPT_FLAG, &check_options.lenient, NULL, "repair what can be repaired in the trace, and count it"},
	{"piece", 0, OPT_TEXT, &options.piece, "K/N", "a part of each trace's candidates", .right = shard_right, .hidden = true,
		.line_only = true},
	{0},
};

const struct command command_predict = {
	.name = "predict",
	.summary = "find other orders of a trace in which code is split",
	.run = predict_main,
	.words = "FILE...",
	.least = 1,
	.variable = true,
	.about = "Looks for three accesses, two of a block and one of another thread, that would split the block if they came "
		"in another order, and for an order of the trace in which they do. What was found by tier A or B, and confirmed by a "
		"second, independent walk through that order, is 'predicted'; what only tier C has an order for is 'suspected'.\n"
		"\n"
		"The checks of 'fission check' run too, and what they say of the same block is one finding.",
	.options = (const struct opt_group[]){
		{"Options", table},
		{"Beyond one process", scale_opts},
		{"Checks, policy and report", plan_options},
		{"What is accepted", accept_options},
		{"Parts of checks", plan_refinements},
		{0},
	},
	.examples = (const struct command_example[]){
		{"fission record --values -o bank.ftr ./bank && fission predict bank.ftr", NULL},
		{"fission predict --tier=A --window=0 -j 1 run.ftr", NULL},
		{"fission predict --format=json --fail-on=suspected,1 examples/bank.std", NULL},
		{0},
	},
	.statuses = plan_statuses,
	.see = (const char *const[]){"check", "record", NULL},
};
