/* SPDX-License-Identifier: MIT */
/* fission run: runs a program and checks it while it runs. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "check/check.h"
#include "check/run.h"
#include "cli/compare.h"
#include "cli/live.h"
#include "cli/plan.h"
#include "collect/collect.h"
#include "collect/program.h"
#include "event/trace.h"
#include "report/look.h"
#include "report/report.h"
#include "runtime/channel.h"
#include "symbols/namer.h"

static const char default_checks[] = "causal,aerodrome,sidetrack,races,deadlocks";

static const char usage[] =
	"usage: fission run [options] [--] PROGRAM [ARGUMENTS...]\n"
	"\n"
	"Runs a program that was built with fission-cc and checks it while it runs. Its input, output and exit status are\n"
	"its own; the report goes to standard error when it has ended.\n"
	"\n";

static const char examples[] =
	"\n"
	"Exit status: 66 if there are findings at or above --fail-on; otherwise the program's own, 128 and the signal if\n"
	"one ended it; 64 if it could not be started, 69 if the report could not be written, 78 for a mistake in a\n"
	"configuration.\n"
	"\n"
	"Examples:\n"
	"  fission run ./bank\n"
	"  fission run --format=json --output=findings.json -- ./server -p 8080\n"
	"  fission run --time=60s --fail-on=observed,1 ./soak\n";

struct run_options {
	const char *output;
	double seconds;
	bool full, both;
};

/* One program and what was found in it. */
struct session {
	struct arena arena;
	struct tables tables;
	struct namer namer;
	struct findings findings;
	struct plan plan;
	struct run *run;
	struct event batch[TRACE_BATCH];
	size_t count;
	struct report_trace report;
	int status; /* of the program */
};

static void feed(struct session *s)
{
	run_events(s->run, s->batch, s->count);
	s->count = 0;
}

/* In batches, so that the run can look ahead. */
static void take(void *self, struct event *e)
{
	struct session *s = self;

	s->batch[s->count++] = *e;
	if (s->count == TRACE_BATCH)
		feed(s);
}

static void take_past(void *self, struct event *e)
{
	struct session *s = self;

	feed(s);
	run_past(s->run, e);
}

static void session_start(struct session *s, const struct check_options *o)
{
	struct run_setup setup = {s->plan.checks, 0, true, &s->plan.policy, s->plan.refinements, true};

	arena_init(&s->arena);
	tables_init(&s->tables, &s->arena);
	namer_init(&s->namer, &s->arena, &s->tables);
	findings_init(&s->findings, &s->arena, &s->tables);
	s->findings.recorded = true;
	plan_make(&s->plan, &s->arena, o);
	setup.count = s->plan.count;
	s->run = run_new(&s->arena, &s->tables, &s->findings, &setup);
}

static void session_finish(struct session *s, uint64_t events, const char *program)
{
	feed(s);
	run_finish(s->run);
	findings_finish(&s->findings);
	s->report = (struct report_trace){
		.path = program, .tables = &s->tables, .findings = &s->findings, .events = events,
		.variables = run_variables(s->run),
	};
	memcpy(s->report.repaired, run_wellformed(s->run)->count, sizeof s->report.repaired);
}

/* What the program has to tell for these checks. */
static unsigned mode_of(const struct session *s, const struct run_options *r)
{
	if (!run_looks_at_accesses(s->run))
		return MODE_LOCKS;
	if (run_needs_single(s->run)) {
		if (r->both)
			die(STATUS_USAGE, "run: --both: these checks or this policy need every single access");
		if (!r->full)
			warn("these checks or this policy need every single access: the program will be slower (--full)");
		return 0;
	}
	return r->full ? 0 : MODE_FILTER | (r->both ? MODE_BOTH : 0);
}

/* Writes the report. Returns the status of the tool: the program's own unless there are findings that count. */
static int session_report(struct session *s, const struct check_options *o, const struct run_options *r, char **argv)
{
	bool found = findings_reach(&s->findings, s->plan.fail_on.verdict, s->plan.fail_on.rank);
	struct report report = {.trace = &s->report, .count = 1, .rank = s->plan.rank, .command = "run", .program = argv,
		.fail_on = o->fail_on, .status = found ? STATUS_FINDINGS : s->status};
	struct look look = look_plain;
	struct story story;

	look.show_hidden = o->show_hidden;
	story_tell(&story, &s->arena, &report);
	print_report(s->plan.renderer, &story, &look, r->output);
	return report.status;
}

/* Runs the program through the session; with a second one, the full stream through that. */
static struct collected run_through(struct session *s, struct session *full, const struct run_options *r, char **argv)
{
	struct collect_setup to_full = {.to = full, .event = take};
	struct collect_setup setup = {.argv = argv, .seconds = r->seconds, .to = s, .namer = &s->namer, .event = take,
		.past = take_past, .mode = mode_of(s, r), .policy = &s->plan.policy};
	struct collected c;
	struct fault fault = {0};

	if (full) {
		to_full.namer = &full->namer;
		setup.full = &to_full;
	}
	if (!collect(&setup, &s->arena, &c, &fault))
		die(fault.status, "%s", fault.text);
	s->findings.incomplete = live_lacks(&c);
	session_finish(s, c.events, argv[0]);
	s->report.timed = setup.mode & MODE_TIMED;
	if (full)
		session_finish(full, c.full_events, argv[0]);
	live_complain(&c);
	return c;
}

static int run_program(const struct check_options *o, const struct run_options *r, char **argv)
{
	static struct session s;
	int status;

	session_start(&s, o);
	s.status = run_through(&s, NULL, r, argv).status;
	status = session_report(&s, o, r, argv);
	namer_close(&s.namer);
	return status;
}

/* Both streams of one run: do they name the same activations? A test of the filter. */
static int run_both(const struct check_options *o, const struct run_options *r, char **argv)
{
	static struct session s, full;
	struct claims claims[2];
	struct collected c;
	size_t differences;

	session_start(&s, o);
	session_start(&full, o);
	claims_listen(&claims[0], &full.findings);
	claims_listen(&claims[1], &s.findings);
	c = run_through(&s, &full, r, argv);
	differences = claims_compare(&claims[0], &claims[1]);
	fprintf(stderr, "both: %llu events in full, %llu and %llu of the past filtered; %zu activations in full, "
		"%zu filtered; %zu differ\n", (unsigned long long)c.full_events, (unsigned long long)c.events,
		(unsigned long long)c.pasts, claims[0].count, claims[1].count, differences);
	return differences ? STATUS_FINDINGS : c.status;
}

static int run_main(int argc, char **argv)
{
	struct check_options o = check_options_for("run", default_checks);
	struct run_options r = {.output = "/dev/stderr"};
	const char *limit = NULL;
	struct opt table[4 + PLAN_OPTIONS] = {
		{"output", 'o', OPT_TEXT, &r.output, "FILE", "where the report goes (default: standard error)"},
		{"time", 0, OPT_TEXT, &limit, "SECONDS", "end the program after so long"},
		{"full", 0, OPT_FLAG, &r.full, NULL, "have the program tell every access, also those that others cannot notice"},
		{"both", 0, OPT_FLAG, &r.both, NULL, "check with and without --full in one run, and compare: a test of Fission"},
	};
	int operands;

	plan_options(table, &o);
	operands = opts_parse_leading(table, "run", argc, argv);
	if (o.help) {
		fputs(usage, stdout);
		opts_help(table);
		plan_help();
		fputs(examples, stdout);
		return STATUS_CLEAN;
	}
	program_hold_streams();
	if (operands == 0)
		die(STATUS_USAGE, "run: no program given; 'fission run --help' shows how");
	r.seconds = live_seconds("run", limit);
	return r.both ? run_both(&o, &r, argv + 1) : run_program(&o, &r, argv + 1);
}

const struct command command_run = {
	.name = "run",
	.summary = "run a program and check it while it runs",
	.run = run_main,
};
