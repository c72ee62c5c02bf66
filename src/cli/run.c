/* SPDX-License-Identifier: MIT */
/* fission run: runs a program and checks it while it runs. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "check/check.h"
#include "check/run.h"
#include "cli/live.h"
#include "cli/plan.h"
#include "collect/collect.h"
#include "collect/program.h"
#include "event/trace.h"
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
	"one ended it; 64 if it could not be started.\n"
	"\n"
	"Examples:\n"
	"  fission run ./bank\n"
	"  fission run --format=json --output=findings.json -- ./server -p 8080\n"
	"  fission run --time=60s --fail-on=observed,1 ./soak\n";

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

static void session_start(struct session *s, const struct check_options *o)
{
	struct run_setup setup = {s->plan.checks, 0, true, &s->plan.policy, s->plan.refinements};

	arena_init(&s->arena);
	tables_init(&s->tables, &s->arena);
	namer_init(&s->namer, &s->arena, &s->tables);
	findings_init(&s->findings, &s->arena, &s->tables);
	s->findings.recorded = true;
	plan_make(&s->plan, &s->arena, o);
	setup.count = s->plan.count;
	s->run = run_new(&s->arena, &s->tables, &s->findings, &setup);
}

static void session_finish(struct session *s, const struct collected *c, const char *program)
{
	feed(s);
	run_finish(s->run);
	findings_finish(&s->findings);
	s->report = (struct report_trace){
		.path = program, .tables = &s->tables, .findings = &s->findings, .events = c->events,
		.variables = run_variables(s->run),
	};
	memcpy(s->report.repaired, run_wellformed(s->run)->count, sizeof s->report.repaired);
}

static int session_report(struct session *s, const struct check_options *o, const char *path)
{
	struct report report = {.trace = &s->report, .count = 1, .rank = s->plan.rank, .hidden = o->show_hidden};

	print_report(s->plan.renderer, &report, &s->arena, path);
	return findings_reach(&s->findings, s->plan.fail_on.verdict, s->plan.fail_on.rank) ? STATUS_FINDINGS : STATUS_CLEAN;
}

static int run_program(const struct check_options *o, const char *path, struct collect_setup setup)
{
	static struct session s;
	struct collected c;
	struct fault fault = {0};
	int status;

	session_start(&s, o);
	setup.to = &s;
	setup.namer = &s.namer;
	setup.event = take;
	setup.policy = &s.plan.policy;
	if (!collect(&setup, &s.arena, &c, &fault))
		die(fault.status, "%s", fault.text);
	session_finish(&s, &c, setup.argv[0]);
	live_complain(&c);
	status = session_report(&s, o, path);
	namer_close(&s.namer);
	return status ? status : c.status;
}

static int run_main(int argc, char **argv)
{
	struct check_options o = check_options_for("run", default_checks);
	const char *limit = NULL, *path = "/dev/stderr";
	struct opt table[2 + PLAN_OPTIONS] = {
		{"output", 'o', OPT_TEXT, &path, "FILE", "where the report goes (default: standard error)"},
		{"time", 0, OPT_TEXT, &limit, "SECONDS", "end the program after so long"},
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
	return run_program(&o, path, (struct collect_setup){.argv = argv + 1, .seconds = live_seconds("run", limit)});
}

const struct command command_run = {
	.name = "run",
	.summary = "run a program and check it while it runs",
	.run = run_main,
};
