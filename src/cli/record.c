/* SPDX-License-Identifier: MIT */
/* fission record: runs a program and writes what it did into a trace. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/opts.h"
#include "cli/controlled.h"
#include "cli/live.h"
#include "cli/manner.h"
#include "cli/plan.h"
#include "cli/stock.h"
#include "collect/collect.h"
#include "collect/program.h"
#include "event/brief.h"
#include "event/trace.h"
#include "event/trace_bin.h"
#include "event/trace_bin_columns.h"
#include "event/wellformed.h"
#include "runtime/channel.h"
#include "symbols/namer.h"

static struct {
	const char *output, *format, *time, *config;
	bool values;
} options = {.output = "fission.ftr"};

struct recorder {
	struct arena arena;
	struct tables tables;
	struct namer namer;
	struct trace_writer writer;
	struct wellformed wellformed;
	struct policy policy;
	struct progress progress;
	uint64_t events;
};

static void show_progress(struct recorder *r)
{
	char events[16];

	if (progress_due(&r->progress))
		progress_show(&r->progress, "recorded %s events", progress_number(r->events, events));
}

/* What the program did wrong (an unlock of a lock that it does not hold) is not in the trace; it is counted. */
static void take(void *self, struct event *e)
{
	struct recorder *r = self;
	struct wf_step step = {.broken = WF_FINE};

	if (e->kind == EVENT_NONE) /* the end of a wait, which a trace has at the thread's next event */
		return;
	if (!event_is_access(e->kind) || !*wellformed_plain(&r->wellformed, e->thread))
		step = wellformed_step(&r->wellformed, e);
	if (!step.broken || step.mended)
		trace_put(&r->writer, e);
	if (++r->events % TRACE_BATCH == 0)
		show_progress(r);
}

static void take_briefs(void *self, const struct briefs *all)
{
	struct recorder *r = self;
	uint64_t before = r->events / TRACE_BATCH;

	for (size_t done = 0; done < all->count;) {
		struct briefs b = briefs_from(all, done);
		struct event next;

		b.count = wellformed_briefs(&r->wellformed, &b);
		trace_put_briefs(&r->writer, &b);
		r->events += b.count;
		done += b.count;
		if (done == all->count)
			break;
		next = brief_event(all, done++);
		take(r, &next);
	}
	if (r->events / TRACE_BATCH != before)
		show_progress(r);
}

/* For a thread whose accesses and calls need no other judgement than that calls are in their order. */
static bool open_columns(void *self, thread_id thread, struct bin_columns *c)
{
	struct recorder *r = self;

	if (!*wellformed_plain(&r->wellformed, thread))
		return false;
	c->calls = wellformed_calls(&r->wellformed, thread);
	return trace_bin_columns(&r->writer, thread, c);
}

static void close_columns(void *self, const struct bin_columns *c)
{
	struct recorder *r = self;
	uint64_t before = r->events / TRACE_BATCH;

	r->events += trace_bin_columns_end(&r->writer, c);
	if (r->events / TRACE_BATCH != before)
		show_progress(r);
}

static void take_loop(void *self, const struct brief_loop *l)
{
	struct recorder *r = self;
	uint64_t before = r->events / TRACE_BATCH;

	if (!*wellformed_plain(&r->wellformed, l->thread)) {
		for (uint64_t i = 0; i < l->count; i++) {
			struct event e = brief_loop_event(l, i);

			take(r, &e);
		}
		return;
	}
	trace_put_loop(&r->writer, l);
	r->events += l->count;
	if (r->events / TRACE_BATCH != before)
		show_progress(r);
}

/* What a thread does first, or after a wait, may mean more than it says. */
static bool goes_on(struct recorder *r, thread_id thread)
{
	struct event e = {.kind = EVENT_READ, .flags = EVENT_ADDRESSED, .thread = thread};
	struct wf_step step;

	if (*wellformed_plain(&r->wellformed, thread))
		return true;
	step = wellformed_step(&r->wellformed, &e);
	return !step.broken || step.mended;
}

/* How many events that is, nobody knows yet: two bytes are the least. */
static void take_trail(void *self, thread_id thread, const unsigned char *bytes, size_t n)
{
	struct recorder *r = self;

	if (r->writer.format == &trace_bin)
		trace_bin_put_trail(&r->writer, thread, bytes, n, !goes_on(r, thread));
	r->events += n / 2;
	show_progress(r);
}

static uint64_t dropped(const struct recorder *r)
{
	uint64_t n = 0;

	for (size_t i = 0; i < WF_RULES; i++)
		n += r->wellformed.count[i];
	return n;
}

/* For measuring: everything is taken, nothing is written. */
static void nothing(struct trace_writer *w)
{
	(void)w;
}

static void put_nothing(struct trace_writer *w, const struct event *e)
{
	(void)w, (void)e;
}

static void put_no_briefs(struct trace_writer *w, const struct briefs *b)
{
	(void)w, (void)b;
}

static void put_no_loop(struct trace_writer *w, const struct brief_loop *l)
{
	(void)w, (void)l;
}

static const struct trace_format none = {.name = "none", .start = nothing, .put = put_nothing,
	.put_briefs = put_no_briefs, .put_loop = put_no_loop, .finish = nothing};

static const char *formats(size_t i, const char **about)
{
	static const char *const words[] = {"binary", "text", "none", NULL};

	return opts_word(words, i, about);
}

/* By its name, or by the file's as in `trace convert`. */
static const struct trace_format *format_for(const char *name, const char *path)
{
	const char *dot = strrchr(path, '.');

	if (!name)
		return dot && (strcmp(dot, ".std") == 0 || strcmp(dot, ".txt") == 0) ? &trace_text : &trace_bin;
	return strcmp(name, none.name) == 0 ? &none : trace_format_named(name);
}

static int record(struct recorder *r, const struct collect_setup *setup)
{
	struct collected c;
	struct fault fault = {0};

	if (!collect(setup, &r->arena, &c, &fault)) {
		trace_abort(&r->writer);
		die(fault.status, "%s", fault.text);
	}
	namer_close(&r->namer);
	live_complain(&c);
	if (setup->order)
		controlled_tell(&c.gate);
	if (dropped(r))
		warn("%llu events made no sense where they stood, and are not in the trace", (unsigned long long)dropped(r));
	if (!trace_commit(&r->writer))
		die(r->writer.output.fault.status, "%s", r->writer.output.fault.text);
	return c.status;
}

static int record_main(int argc, char **argv)
{
	static struct recorder r;
	const char *library;
	struct collect_setup setup = {.to = &r, .event = take, .briefs = take_briefs, .loop = take_loop, .argv = argv + 1,
		.mode = options.values ? MODE_VALUES : 0, .seconds = live_seconds(options.time), .policy = &r.policy,
		.namer = &r.namer};
	const struct trace_format *f = format_for(options.format, options.output);

	(void)argc;
	program_hold_streams();
	arena_init(&r.arena);
	setup.order = controlled_order(&r.arena);
	setup.patience = (double)controlled.patience;
	tables_init(&r.tables, &r.arena);
	policy_init(&r.policy, &r.arena);
	read_configs(&r.policy, options.config);
	progress_start(&r.progress, manner_progress(false), manner_utf8());
	namer_init(&r.namer, &r.arena, &r.tables);
	wellformed_init(&r.wellformed, &r.arena, &r.tables, true);
	library = stock_library(&r.arena, argv[1]);
	if (library) {
		stock_say(argv[1]);
		setup.preload = library;
		setup.mode = MODE_LOCKS | MODE_STOCK;
	}
	if (!trace_create(&r.writer, f, f == &none ? "/dev/null" : options.output, &r.tables, &r.arena))
		die(r.writer.output.fault.status, "%s", r.writer.output.fault.text);
	if (f == &trace_bin) {
		trace_bin_hurry(&r.writer);
		trace_bin_beside(&r.writer);
		trace_bin_trails(&r.writer);
		setup.columns = open_columns;
		setup.columns_end = close_columns;
	}
	if (f != &trace_text)
		setup.trail = take_trail;
	return record(&r, &setup);
}

static const struct opt table[] = {
	{"output", 'o', OPT_TEXT, &options.output, "FILE", "the trace (default: fission.ftr)", .line_only = true},
	{"format", 0, OPT_TEXT, &options.format, "FORM", "its form (default: text for .std and .txt, otherwise binary)",
		.values = formats, .line_only = true},
	{"values", 0, OPT_FLAG, &options.values, NULL, "with the values that were read and written"},
	{"config", 0, OPT_TEXT, &options.config, "FILES",
		"configuration files, with commas; only their 'lock' lines matter here"},
	{"time", 0, OPT_TEXT, &options.time, "SECONDS", "end the program after so long: 90, 90s or 5m",
		.right = live_time_right},
	{"strategy", 0, OPT_TEXT, &controlled.strategy, "NAME", "one thread at a time, in the order that this gives",
		.values = controlled_strategies, .hidden = true, .line_only = true},
	{"seed", 0, OPT_COUNT, &controlled.seed, "N", "of the strategy", .hidden = true, .line_only = true},
	{"depth", 0, OPT_COUNT, &controlled.depth, "N", "of pct", .hidden = true, .line_only = true},
	{"budget", 0, OPT_COUNT, &controlled.budget, "N", "steps after which threads change no more than they must",
		.hidden = true, .line_only = true},
	{"order", 0, OPT_TEXT, &controlled.order, "FILE", "the order to run by", .hidden = true, .line_only = true},
	{"executed", 0, OPT_TEXT, &controlled.executed, "FILE", "for the order that was executed", .hidden = true,
		.line_only = true},
	{"patience", 0, OPT_COUNT, &controlled.patience, "SECONDS", "without a step, after which the run is ended",
		.hidden = true, .line_only = true},
	{0},
};

const struct command command_record = {
	.name = "record",
	.summary = "run a program and write a trace",
	.run = record_main,
	.words = "PROGRAM [ARGUMENTS...]",
	.least = 1,
	.variable = true,
	.leading = true,
	.about = "Runs a program that was built with fission-cc and writes everything that it did into a trace. Its input, "
		"output and exit status are its own.",
	.options = (const struct opt_group[]){{"Options", table}, {0}},
	.examples = (const struct command_example[]){
		{"fission record -o bank.ftr ./bank", NULL},
		{"fission record --values -o bank.ftr -- ./bank --accounts 10", NULL},
		{"fission record -o bank.std ./bank && fission check bank.std", NULL},
		{0},
	},
	.statuses = (const struct command_status[]){
		{"64", "a mistake in the command line, or the program could not be started"},
		{"69", "the trace could not be written"},
		{"78", "a mistake in a configuration"},
		{"other", "the program's own; 128 and the signal if one ended it"},
		{0},
	},
	.see = (const char *const[]){"cc", "run", "check", "trace", NULL},
};
