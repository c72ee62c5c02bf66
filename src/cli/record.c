/* SPDX-License-Identifier: MIT */
/* fission record: runs a program and writes what it did into a trace. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/opts.h"
#include "cli/live.h"
#include "cli/plan.h"
#include "collect/collect.h"
#include "collect/program.h"
#include "event/trace.h"
#include "event/wellformed.h"
#include "runtime/channel.h"
#include "symbols/namer.h"

static const char usage[] =
	"usage: fission record [options] [--] PROGRAM [ARGUMENTS...]\n"
	"\n"
	"Runs a program that was built with fission-cc and writes everything that it did into a trace. Its input, output and\n"
	"exit status are its own.\n"
	"\n";

static const char examples[] =
	"\n"
	"Exit status: the program's own, 128 and the signal if one ended it; 64 if it could not be started, 69 if the\n"
	"trace could not be written, 78 for a mistake in a configuration.\n"
	"\n"
	"Examples:\n"
	"  fission record -o bank.ftr ./bank\n"
	"  fission record --values -o bank.ftr -- ./bank --accounts 10\n"
	"  fission check bank.ftr\n";

struct recorder {
	struct arena arena;
	struct tables tables;
	struct namer namer;
	struct trace_writer writer;
	struct wellformed wellformed;
	struct policy policy;
};

/* What the program did wrong (an unlock of a lock that it does not hold) is not in the trace; it is counted. */
static void take(void *self, struct event *e)
{
	struct recorder *r = self;
	struct wf_step step = {.broken = WF_FINE};

	if (!event_is_access(e->kind) || !wellformed_plain(&r->wellformed, e->thread))
		step = wellformed_step(&r->wellformed, e);
	if (!step.broken || step.mended)
		trace_put(&r->writer, e);
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

static const struct trace_format none = {.name = "none", .start = nothing, .put = put_nothing, .finish = nothing};

/* By its name, or by the file's as in `trace convert`. */
static const struct trace_format *format_for(const char *name, const char *path)
{
	const char *dot = strrchr(path, '.');
	const struct trace_format *f;

	if (!name)
		return dot && (strcmp(dot, ".std") == 0 || strcmp(dot, ".txt") == 0) ? &trace_text : &trace_bin;
	f = strcmp(name, none.name) == 0 ? &none : trace_format_named(name);
	if (!f)
		die(STATUS_USAGE, "record: unknown format '%s'; there are binary, text and none", name);
	return f;
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
	if (dropped(r))
		warn("%llu events made no sense where they stood, and are not in the trace", (unsigned long long)dropped(r));
	if (!trace_commit(&r->writer))
		die(r->writer.output.fault.status, "%s", r->writer.output.fault.text);
	return c.status;
}

static int record_main(int argc, char **argv)
{
	const char *path = "fission.ftr", *format = NULL, *limit = NULL;
	const char *config = NULL;
	bool values = false, help = false;
	struct opt table[] = {
		{"output", 'o', OPT_TEXT, &path, "FILE", "the trace (default: fission.ftr)"},
		{"format", 0, OPT_TEXT, &format, "FORM", "binary, text (default for .std and .txt) or none"},
		{"values", 0, OPT_FLAG, &values, NULL, "with the values that were read and written"},
		{"config", 0, OPT_TEXT, &config, "FILES", "configuration files, with commas; only their 'lock' lines matter here"},
		{"time", 0, OPT_TEXT, &limit, "SECONDS", "end the program after so long"},
		{"help", 'h', OPT_FLAG, &help, NULL, "this text"},
		{0},
	};
	static struct recorder r;
	struct collect_setup setup = {.to = &r, .event = take};
	const struct trace_format *f;
	int operands = opts_parse_leading(table, "record", argc, argv);

	if (help) {
		fputs(usage, stdout);
		opts_help(table);
		fputs(examples, stdout);
		return STATUS_CLEAN;
	}
	program_hold_streams();
	if (operands == 0)
		die(STATUS_USAGE, "record: no program given; 'fission record --help' shows how");
	f = format_for(format, path);
	setup.argv = argv + 1;
	setup.mode = values ? MODE_VALUES : 0;
	setup.seconds = live_seconds("record", limit);
	arena_init(&r.arena);
	tables_init(&r.tables, &r.arena);
	policy_init(&r.policy, &r.arena);
	read_configs(&r.policy, config);
	setup.policy = &r.policy;
	namer_init(&r.namer, &r.arena, &r.tables);
	setup.namer = &r.namer;
	wellformed_init(&r.wellformed, &r.arena, &r.tables, true);
	if (!trace_create(&r.writer, f, f == &none ? "/dev/null" : path, &r.tables, &r.arena))
		die(r.writer.output.fault.status, "%s", r.writer.output.fault.text);
	return record(&r, &setup);
}

const struct command command_record = {
	.name = "record",
	.summary = "run a program and write a trace",
	.run = record_main,
};
