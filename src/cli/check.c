/* SPDX-License-Identifier: MIT */
/* fission check: traces in, findings out. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/opts.h"
#include "check/check.h"
#include "check/oracle.h"
#include "check/run.h"
#include "cli/manner.h"
#include "cli/kept.h"
#include "cli/plan.h"
#include "cli/scale.h"
#include "event/trace.h"
#include "finding/finding.h"
#include "policy/policy.h"
#include "predict/nonatomic_findings.h"
#include "predict/whole.h"
#include "report/report.h"
#include "symbols/namer.h"

/* Steps of a search for a serial order, a finding: tenths of a second. */
enum { VALUES_BUDGET = 100000 };

static struct {
	const char *output;
	const char *out; /* the directory that keeps the findings; NULL: none */
	bool values;     /* judge the findings by the values of the trace */
} options = {.output = "-"};

/* One trace and everything that was found in it. */
struct job {
	struct arena arena;
	struct tables tables;
	struct namer namer;
	struct findings findings;
	struct policy policy;
	struct trace trace;
	struct fault fault;
	uint64_t events; /* of this time through */
	bool can_repeat; /* the trace can be gone through again */
	struct report_trace report;
	struct progress *progress;
};

/* A rule that the events broke: its place is the event's. */
static void rule_fault(struct job *j, const struct run *run, size_t index)
{
	char place[4200];

	trace_place(&j->trace, index, run_field(run), place, sizeof place);
	fault_set(&j->fault, STATUS_TRACE, "%s: %s", place, run_wellformed(run)->why);
}

static void show_progress(struct job *j)
{
	char events[16];

	progress_show(j->progress, "checked %s events%s%zu findings", progress_number(j->events, events),
		j->progress->between, j->findings.count);
}

static void feed(struct job *j, struct run *run)
{
	struct event events[TRACE_BATCH];
	size_t n, taken;

	while ((n = trace_next(&j->trace, events, TRACE_BATCH)) > 0) {
		taken = run_events(run, events, n);
		j->events += taken;
		if (progress_due(j->progress))
			show_progress(j);
		if (taken < n) {
			rule_fault(j, run, taken);
			return;
		}
	}
	if (fault_is_set(&j->trace.fault))
		j->fault = j->trace.fault;
}

static void refuse_large(struct job *j, const struct run *run)
{
	const void *oracle = run_check_state(run, "oracle");

	if (oracle && oracle_refuses(oracle))
		fault_set(&j->fault, STATUS_USAGE,
			"%s: more than %d transactions (or %d events) are too many for the oracle; use velodrome",
			j->trace.input.name, ORACLE_NODES_MOST, ORACLE_EVENTS_MOST);
}

static void job_start(struct job *j, const char *path, const struct plan *p)
{
	arena_init(&j->arena);
	tables_init(&j->tables, &j->arena);
	namer_init(&j->namer, &j->arena, &j->tables);
	findings_init(&j->findings, &j->arena, &j->tables);
	j->policy = policy_copy(&p->policy, &j->arena);
	j->report = (struct report_trace){.path = path, .tables = &j->tables, .findings = &j->findings};
}

/* What the report says of the trace itself: of the first time through, with all checks. */
static void describe(struct job *j, const struct run *run, bool lenient)
{
	j->report.events = j->events;
	j->report.variables = run_variables(run);
	if (lenient)
		memcpy(j->report.repaired, run_wellformed(run)->count, sizeof j->report.repaired);
	j->report.skipped = j->trace.skipped;
	j->report.cut = j->trace.incomplete ? j->trace.incomplete_at : NULL;
}

/* Once through the trace. */
static bool job_round(struct job *j, const struct run_setup *setup)
{
	struct run *run;

	if (!trace_open(&j->trace, j->report.path, &j->tables, setup->lenient)) {
		j->fault = j->trace.fault;
		return false;
	}
	j->events = 0;
	j->can_repeat = j->trace.input.regular;
	run = run_new(&j->arena, &j->tables, &j->findings, setup);
	feed(j, run);
	run_finish(run);
	refuse_large(j, run);
	if (!j->findings.round) {
		describe(j, run, setup->lenient);
		if (run_looks_at_accesses(run) && !run_variables(run))
			plan_say_locks(&j->report);
	}
	trace_close(&j->trace);
	return !fault_is_set(&j->fault);
}

static bool is_exact(const struct check *c)
{
	return c->on[ON_BEGIN] && c->on[ON_END] && c->edge;
}

/* A span of a lock goes by its function's name, which is not its own. */
static bool is_named(const struct block *b)
{
	return b->entered || b->declared;
}

/* The blamed blocks leave the policy. Returns whether any of them had not left yet. */
static bool leave_blamed(struct job *j)
{
	bool any = false;

	for (size_t i = 0; i < j->findings.count; i++) {
		const struct finding *f = &j->findings.at[i];
		struct text name = tables_name(&j->tables, TABLE_CODE, f->block.code);
		bool cycle = false;

		for (size_t k = 0; k < f->evidence_count; k++)
			cycle |= strcmp(f->evidence[k].kind, "cycle") == 0;
		if (cycle && f->block.code && is_named(&f->block) && !policy_has_left(&j->policy, name)) {
			policy_leave(&j->policy, name);
			any = true;
		}
	}
	return any;
}

/*
 * Automatic refinement: a block that was blamed may hide others, around it, in it, or on the same cycle. It leaves
 * the policy, and the checks that take blocks together go through the trace again, until nothing new is blamed.
 */
static void refine(struct job *j, struct run_setup setup)
{
	const struct check *exact[CHECKS_MOST];
	unsigned refinements[CHECKS_MOST];
	size_t count = 0;

	for (size_t i = 0; i < setup.count; i++)
		if (is_exact(setup.checks[i])) {
			refinements[count] = setup.refinements[i];
			exact[count++] = setup.checks[i];
		}
	setup.checks = exact;
	setup.count = count;
	setup.refinements = refinements;
	while (count && leave_blamed(j)) {
		j->findings.round++;
		if (!job_round(j, &setup))
			break;
	}
}

/* The trace as a whole, read again. False if it is not what the findings are of: their event numbers would not fit. */
static bool read_again(struct job *j, struct whole *whole, struct arena *a)
{
	struct fault fault = {0};

	if (!j->can_repeat) {
		warn("%s: --values takes a file: standard input and pipes cannot be read again", j->report.path);
		return false;
	}
	whole_init(whole, a, &j->tables);
	if (whole_read(whole, j->report.path, check_options.lenient, &fault) && whole->count == j->report.events)
		return true;
	warn("%s: --values: events were repaired or left out, so nothing is judged by values", j->report.path);
	return false;
}

/* What the values say about each finding. */
static void judge_values(struct job *j)
{
	struct nonatomic_told told = {.valued = true};
	struct arena arena;
	struct whole whole;

	arena_init(&arena);
	if (read_again(j, &whole, &arena))
		told = nonatomic_findings(&j->findings, &whole, VALUES_BUDGET);
	arena_free(&arena);
	if (!told.valued)
		warn("%s: --values: the trace has no values; record it with 'fission record --values'", j->report.path);
	findings_limit(&j->findings, "findings whose values were not decided", told.undecided);
	findings_limit(&j->findings, "variables whose values come from elsewhere", told.unexplained);
}

static void job_run(struct job *j, const char *path, const struct plan *p)
{
	struct run_setup setup = {p->checks, p->count, check_options.lenient, &j->policy, p->refinements, false};

	job_start(j, path, p);
	if (job_round(j, &setup) && !check_options.once && j->can_repeat)
		refine(j, setup);
	j->findings.recorded = j->tables.module_count > 0; /* only a recording knows what was loaded */
	findings_finish(&j->findings);
	if (options.values && !fault_is_set(&j->fault))
		judge_values(j);
	if (fault_is_set(&j->fault)) {
		j->report.fault = j->fault.text;
		warn("%s", j->fault.text);
	}
}

/* The first fault decides, since a verdict on half of the input is none; then what was found. */
static int status_of(const struct job *jobs, size_t n, const struct story *story, const struct plan *p)
{
	for (size_t i = 0; i < n; i++)
		if (fault_is_set(&jobs[i].fault))
			return jobs[i].fault.status;
	return plan_fails(p, story) ? (int)check_options.exitcode : STATUS_CLEAN;
}

/* Goes through the traces. */
static void check_all(struct job *jobs, char **paths, size_t n, const struct plan *p)
{
	struct progress progress;

	progress_start(&progress, manner_progress(true), manner_utf8());
	for (size_t i = 0; i < n; i++) {
		jobs[i].progress = &progress;
		job_run(&jobs[i], paths[i], p);
	}
	progress_clear();
}

/* Tells what was found, and keeps it if that is asked for. Returns the exit status. */
static int tell_all(const struct job *jobs, size_t n, struct plan *p, struct arena *a)
{
	struct report_trace *traces = arena_alloc(a, n * sizeof *traces);
	struct report report = {.command = "check", .bare = check_options.bare, .fail_on = check_options.fail_on,
		.rank = p->rank, .trace = traces,
		.count = n};
	struct look look = look_for(options.output, check_options.show_hidden);
	struct story story;

	for (size_t i = 0; i < n; i++)
		traces[i] = jobs[i].report;
	story_tell(&story, a, &report);
	accept_apply(&p->accepted, &story);
	story.status = status_of(jobs, n, &story, p);
	if (options.out)
		kept_write(&story, options.out);
	look.new_only = p->accepted.new_only;
	print_report(p->renderer, &story, look, options.output);
	return story.status;
}

static int check_files(char **paths, size_t n)
{
	struct plan plan;
	struct arena arena;
	struct job *jobs;
	int status;

	arena_init(&arena);
	kept_check_output(options.output);
	if (options.out)
		kept_check(options.out);
	plan_make(&plan, &arena, "check");
	jobs = arena_alloc(&arena, n * sizeof *jobs);
	check_all(jobs, paths, n, &plan);
	status = tell_all(jobs, n, &plan, &arena);
	for (size_t i = 0; i < n; i++)
		arena_free(&jobs[i].arena);
	arena_free(&arena);
	return status;
}

/* What of the options decides what is found; the others are about how it is told. */
static const char *const deciding[] = {"checks", "atomic", "atomizer", "reduction", "blocks", "no-refine", "values",
	"lenient", NULL};

static int check_main(int argc, char **argv)
{
	size_t n = (size_t)argc - 1;

	if (!scale_wanted())
		return check_files(argv + 1, n);
	kept_check_output(options.output);
	if (options.out)
		kept_check(options.out);
	return scale_traces(&(struct scale_traces){"check", argv + 1, n, command_check.options, deciding, NULL,
		options.output, options.out});
}

static const struct opt table[] = {
	{"output", 'o', OPT_TEXT, &options.output, "FILE", "where the report goes (default: standard output)"},
	{"out", 0, OPT_TEXT, &options.out, "DIR", "keep the findings in a directory, for list, show and report"},
	{"no-refine", 0, OPT_FLAG, &check_options.once, NULL,
		"go through the trace once, even if blamed blocks may hide others"},
	{"values", 0, OPT_FLAG, &options.values, NULL,
		"say of each finding whether a serial order would explain what the trace has read and left in memory"},
	{"lenient", 0, OPT_FLAG, &check_options.lenient, NULL, "repair what can be repaired in the trace, and count it"},
	{0},
};

const struct command command_check = {
	.name = "check",
	.summary = "check traces, binary or text",
	.run = check_main,
	.words = "FILE...",
	.least = 1,
	.variable = true,
	.about = "Checks traces, text or binary, for code that another thread has split. '-' is standard input.",
	.options = (const struct opt_group[]){
		{"Options", table},
		{"Beyond one process", scale_opts},
		{"Checks, policy and report", plan_options},
		{"What is accepted", accept_options},
		{"Parts of checks", plan_refinements},
		{0},
	},
	.examples = (const struct command_example[]){
		{"fission check examples/bank.std", NULL},
		{"fission check --checks=velodrome --format=json run.ftr", NULL},
		{"zcat trace.std.gz | fission check --lenient -", NULL},
		{0},
	},
	.statuses = plan_statuses,
	.see = (const char *const[]){"run", "record", "trace", NULL},
};
