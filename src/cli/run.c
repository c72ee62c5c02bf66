/* SPDX-License-Identifier: MIT */
/* fission run: runs a program and checks it while it runs. */
#include "commands.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "check/check.h"
#include "check/run.h"
#include "chase/execute.h"
#include "cli/compare.h"
#include "cli/controlled.h"
#include "cli/live.h"
#include "cli/manner.h"
#include "cli/plan.h"
#include "cli/kept.h"
#include "cli/stock.h"
#include "collect/collect.h"
#include "collect/program.h"
#include "event/trace.h"
#include "report/hide.h"
#include "report/report.h"
#include "runtime/channel.h"
#include "sched/strategy.h"
#include "symbols/namer.h"

static struct {
	const char *output, *time, *out;
	const char *library; /* in front of a program that was not built with fission-cc; NULL: it was */
	bool full, both, halt, no_out, chaos;
	const char *strategy;
	unsigned long seeds, first_seed;
} options = {.output = "/dev/stderr", .out = RUN_DIR, .strategy = "pos", .seeds = 10, .first_seed = 1};

/* One program and what was found in it. */
struct session {
	struct arena arena;
	struct tables tables;
	struct namer namer;
	struct findings findings;
	struct plan plan;
	struct run *run;
	struct event batch[TRACE_BATCH];
	struct event_room room; /* the batch */
	struct report_trace report;
	struct progress progress;
	uint64_t events; /* so far */
	bool halt;       /* there is a finding at which the program is to be ended */
	int status; /* of the program */
	const struct order *order; /* --chaos */
	int streams[3];            /* likewise: the program's */
};

static void show_progress(struct session *s)
{
	char events[16];

	progress_show(&s->progress, "checked %s events%s%zu findings", progress_number(s->events, events),
		s->progress.between, s->findings.count);
}

static void feed(void *self)
{
	struct session *s = self;
	size_t n = (size_t)(s->room.next - s->batch);

	run_events(s->run, s->batch, n);
	s->events += n;
	s->room.next = s->batch;
	s->halt = s->halt || (options.halt && hide_reached(&s->findings, s->plan.fail_on));
	if (progress_due(&s->progress))
		show_progress(s);
}

/* In batches, so that the run can look ahead; one by one if the program is to be ended at once. */
static void take(void *self, struct event *e)
{
	struct session *s = self;

	*s->room.next = *e;
	if (++s->room.next == s->room.end)
		feed(s);
}

static void session_start(struct session *s)
{
	struct run_setup setup = {s->plan.checks, 0, true, &s->plan.policy, s->plan.refinements, true};

	s->room = (struct event_room){s->batch, s->batch + (options.halt ? 1 : TRACE_BATCH), s, feed};
	arena_init(&s->arena);
	tables_init(&s->tables, &s->arena);
	namer_init(&s->namer, &s->arena, &s->tables);
	findings_init(&s->findings, &s->arena, &s->tables);
	s->findings.recorded = true;
	progress_start(&s->progress, manner_progress(false), manner_utf8());
	plan_make(&s->plan, &s->arena, "run");
	if (options.halt && (s->plan.accepted.suppressions.count || s->plan.accepted.new_only))
		warn("--halt-on-error also ends the program at findings that are suppressed or known");
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
static unsigned mode_of(const struct session *s)
{
	if (options.library)
		return MODE_LOCKS | MODE_STOCK | (options.full || s->order || !plan_is_for_locks() ? 0 : MODE_QUIET);
	if (!run_looks_at_accesses(s->run))
		return MODE_LOCKS;
	if (run_needs_single(s->run)) {
		if (options.both)
			die(STATUS_USAGE, "run: --both: these checks or this policy need every single access");
		if (!options.full)
			warn("these checks or this policy need every single access: the program will be slower (--full)");
		return 0;
	}
	return options.full ? 0 : MODE_FILTER | (options.both ? MODE_BOTH : 0);
}

/* Writes the report. Returns the status of the tool: the program's own unless there are findings that count. */
static int session_report(struct session *s, char **argv)
{
	struct report report = {.trace = &s->report, .count = 1, .rank = s->plan.rank, .command = "run", .program = argv,
		.fail_on = check_options.fail_on};
	struct look look = look_for(options.output, check_options.show_hidden);
	struct story story;

	story_tell(&story, &s->arena, &report);
	accept_apply(&s->plan.accepted, &story);
	story.status = plan_fails(&s->plan, &story) && check_options.exitcode ? (int)check_options.exitcode : s->status;
	if (!options.no_out)
		kept_write(&story, options.out);
	look.new_only = s->plan.accepted.new_only;
	print_report(s->plan.renderer, &story, look, options.output);
	return story.status;
}

/* Runs the program through the session; with a second one, the full stream through that. */
static struct collected run_through(struct session *s, struct session *full, char **argv)
{
	struct collect_setup to_full = {.to = full, .event = take};
	struct collect_setup setup = {.argv = argv, .seconds = live_seconds(options.time), .halt = &s->halt, .to = s,
		.namer = &s->namer, .event = take, .room = &s->room, .late = true, .policy = &s->plan.policy, .order = s->order,
		.preload = options.library};
	struct collected c;
	struct fault fault = {0};

	if (s->order)
		setup.streams = s->streams;
	if (!s->order || options.library)
		setup.mode = mode_of(s);
	setup.lazy = run_may_enter_late(s->run);
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

static int run_program(char **argv)
{
	static struct session s;
	int status;

	session_start(&s);
	s.status = run_through(&s, NULL, argv).status;
	status = session_report(&s, argv);
	namer_close(&s.namer);
	return status;
}

/* --chaos */

/* Those that need no steps to follow. */
static const char *chaos_strategies(size_t i, const char **about)
{
	static const char *const words[] = {"pos", "pct", "random", "atomfuzzer", NULL};

	if (about)
		*about = words[i] ? strategy_named(words[i])->summary : NULL;
	return words[i];
}

static bool ended_badly(const struct collected *c)
{
	return c->status > 128 || c->gate.deadlock || c->gate.stuck;
}

/* One seed. Returns whether it is to be the last one. */
static bool run_seed(struct session *s, char **argv, struct text input, uint64_t seed)
{
	struct collected c;

	*s = (struct session){.streams = {execute_input_file(input), 1, 2}};
	session_start(s);
	s->findings.recorded = false; /* one thread at a time: every order was seen */
	s->order = execute_freely(&s->arena, options.strategy, seed);
	c = run_through(s, NULL, argv);
	close(s->streams[0]);
	if (!c.gate.started)
		die(STATUS_UNFIT, "%s: cannot be controlled, since it was not built with fission-cc", argv[0]);
	controlled_tell(&c.gate);
	s->status = c.status;
	return hide_reached(&s->findings, s->plan.fail_on) || ended_badly(&c);
}

/* Seed after seed, until something is found or the program comes to grief. */
static int run_chaos(char **argv)
{
	static struct session s;
	struct arena arena;
	struct text input;
	struct fault fault = {0};
	uint64_t seed = options.first_seed, last = seed + options.seeds - 1;
	int status;

	arena_init(&arena);
	if (!execute_input(&input, &arena, &fault))
		die(fault.status, "%s", fault.text);
	while (!run_seed(&s, argv, input, seed) && seed < last) {
		namer_close(&s.namer);
		arena_free(&s.arena);
		seed++;
	}
	if (!manner.quiet)
		warn("%s, seed %llu of %llu to %llu", options.strategy, (unsigned long long)seed,
			(unsigned long long)options.first_seed, (unsigned long long)last);
	status = session_report(&s, argv);
	namer_close(&s.namer);
	return status;
}

/* Both streams of one run: do they name the same activations? A test of the filter. */
static int run_both(char **argv)
{
	static struct session s, full;
	struct claims claims[2];
	struct collected c;
	size_t differences;

	session_start(&s);
	session_start(&full);
	claims_listen(&claims[0], &full.findings);
	claims_listen(&claims[1], &s.findings);
	c = run_through(&s, &full, argv);
	differences = claims_compare(&claims[0], &claims[1]);
	fprintf(stderr, "both: %llu events in full, %llu and %llu of the past filtered; %zu activations in full, "
		"%zu filtered; %zu differ\n", (unsigned long long)c.full_events, (unsigned long long)c.events,
		(unsigned long long)c.pasts, claims[0].count, claims[1].count, differences);
	return differences ? STATUS_FINDINGS : c.status;
}

/* A program that was not built with fission-cc runs as it is, and shows its locks. */
static void prepare_stock(const char *program)
{
	static struct arena arena;

	arena_init(&arena);
	options.library = stock_library(&arena, program);
	if (!options.library)
		return;
	if (options.both)
		die(STATUS_USAGE, "run: --both: %s was not built with fission-cc", program);
	stock_say(program);
	plan_for_locks();
}

static int run_main(int argc, char **argv)
{
	(void)argc;
	program_hold_streams();
	prepare_stock(argv[1]);
	kept_check_output(options.output);
	if (!options.no_out && !options.both)
		kept_check(options.out);
	if (options.chaos)
		return run_chaos(argv + 1);
	return options.both ? run_both(argv + 1) : run_program(argv + 1);
}

static const struct opt own[] = {
	{"output", 'o', OPT_TEXT, &options.output, "FILE", "where the report goes (default: standard error)"},
	{"out", 0, OPT_TEXT, &options.out, "DIR",
		"where the findings are kept for list, show and report (default: " RUN_DIR ")"},
	{"no-out", 0, OPT_FLAG, &options.no_out, NULL, "do not keep them"},
	{"time", 0, OPT_TEXT, &options.time, "SECONDS", "end the program after so long: 90, 90s or 5m",
		.right = live_time_right},
	{"halt-on-error", 0, OPT_FLAG, &options.halt, NULL,
		"end the program at the first finding at or above --fail-on, as far as is known by then"},
	{"full", 0, OPT_FLAG, &options.full, NULL,
		"have the program tell every access, also those that others cannot notice"},
	{"chaos", 0, OPT_FLAG, &options.chaos, NULL,
		"run it one thread at a time, in another order for each seed, until something is found"},
	{"strategy", 0, OPT_TEXT, &options.strategy, "NAME", "of --chaos: what makes the orders (default: pos)",
		.values = chaos_strategies},
	{"seeds", 0, OPT_COUNT, &options.seeds, "N", "of --chaos: how many at most (default: 10)"},
	{"first-seed", 0, OPT_COUNT, &options.first_seed, "N", "of --chaos: which comes first (default: 1)"},
	{"both", 0, OPT_FLAG, &options.both, NULL,
		"check with and without --full in one run, and compare: a test of Fission",
		.line_only = true, .hidden = true},
	{0},
};

const struct command command_run = {
	.name = "run",
	.summary = "run a program and check it while it runs",
	.run = run_main,
	.words = "PROGRAM [ARGUMENTS...]",
	.least = 1,
	.variable = true,
	.leading = true,
	.about = "Runs a program and checks it while it runs: one that was built with fission-cc, or, as far as its locks go, any "
		"other. Its input, output and exit status are its own; the report goes to standard error when it has ended.",
	.options = (const struct opt_group[]){
		{"Options", own},
		{"Checks, policy and report", plan_options},
		{"What is accepted", accept_options},
		{"Parts of checks", plan_refinements},
		{0},
	},
	.examples = (const struct command_example[]){
		{"fission run ./bank", NULL},
		{"fission run --format=json --output=findings.json -- ./server -p 8080", NULL},
		{"fission run --time=60s --fail-on=observed,1 ./soak", NULL},
		{"fission run --chaos --seeds=100 ./bank", NULL},
		{0},
	},
	.statuses = (const struct command_status[]){
		{"66", "findings at or above --fail-on"},
		{"64", "a mistake in the command line, or the program could not be started"},
		{"69", "the report could not be written, or the program cannot be checked: static, setuid, another C library"},
		{"78", "a mistake in a configuration, in suppressions or in a baseline"},
		{"other", "the program's own; 128 and the signal if one ended it"},
		{0},
	},
	.see = (const char *const[]){"cc", "record", "check", NULL},
};
