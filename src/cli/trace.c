/* SPDX-License-Identifier: MIT */
/* fission trace: what can be done with a trace besides checking it. One file a subcommand. */
#include "trace.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/opts.h"
#include "base/output.h"
#include "cli/manner.h"
#include "cli/trace_program.h"

bool trace_lenient;

const struct command_status trace_statuses[] = {
	{"0", "done"},
	{"64", "a mistake in the command line, or a trace that cannot be opened"},
	{"65", "the trace is malformed"},
	{"69", "the output could not be written"},
	{0},
};

void trace_file_open(struct trace_file *f, const char *path)
{
	arena_init(&f->arena);
	tables_init(&f->tables, &f->arena);
	if (!trace_open(&f->trace, path, &f->tables, trace_lenient))
		die(f->trace.fault.status, "%s", f->trace.fault.text);
}

void trace_file_watch(struct trace_file *f, const char *output)
{
	bool own = strcmp(output, "-") != 0 || !isatty(STDOUT_FILENO);

	progress_start(&f->progress, manner_progress(own), manner_utf8());
	f->events = 0;
}

size_t trace_file_next(struct trace_file *f, struct event *to, const char *done)
{
	size_t n = trace_next(&f->trace, to, TRACE_BATCH);
	char events[16];

	f->events += n;
	if (progress_due(&f->progress))
		progress_show(&f->progress, "%s %s events", done, progress_number(f->events, events));
	return n;
}

void trace_file_finish(struct trace_file *f, const char *done)
{
	const struct trace *t = &f->trace;

	progress_clear();
	if (fault_is_set(&t->fault))
		die(t->fault.status, "%s", t->fault.text);
	if (t->incomplete)
		warn("%s: cut off at %s; %s the %" PRIu64 " event%s before that", t->input.name,
			t->incomplete_at, done, t->events, t->events == 1 ? "" : "s");
	if (t->skipped)
		warn("%s: skipped %" PRIu64 " line%s that could not be parsed", t->input.name, t->skipped,
			t->skipped == 1 ? "" : "s");
}

void trace_file_close(struct trace_file *f)
{
	trace_close(&f->trace);
	arena_free(&f->arena);
}

static const char *program_output = "-";

static int program_main(int argc, char **argv)
{
	struct trace_file f;
	struct output o;
	struct fault fault = {0};

	(void)argc;
	trace_file_open(&f, argv[1]);
	if (!output_open(&o, program_output))
		die(o.fault.status, "%s", o.fault.text);
	if (!trace_program_write(&f.trace, &f.tables, &o, &fault)) {
		output_abort(&o);
		die(fault.status, "%s", fault.text);
	}
	trace_file_finish(&f, "written");
	if (!output_commit(&o))
		die(o.fault.status, "%s", o.fault.text);
	trace_file_close(&f);
	return STATUS_CLEAN;
}

static const struct opt program_options[] = {
	{"output", 'o', OPT_TEXT, &program_output, "FILE", "where to write (default: standard output)"},
	TRACE_LENIENT,
	{0},
};

static const struct command trace_program = {
	.name = "program",
	.summary = "a C program that performs the trace",
	.run = program_main,
	.words = "FILE",
	.least = 1,
	.most = 1,
	.about = "Writes a C program that performs the trace, event by event, with real threads and locks. '-' is standard "
		"input.",
	.options = (const struct opt_group[]){{"Options", program_options}, {0}},
	.examples = (const struct command_example[]){
		{"fission trace program -o bank.c examples/bank.std && cc -pthread bank.c", NULL},
		{"fission trace program run.ftr | less", NULL},
		{"grep -v '|exit' run.std | fission trace program --lenient - >run.c", NULL},
		{0},
	},
	.statuses = trace_statuses,
	.see = (const char *const[]){"trace", "record", NULL},
};

const struct command command_trace = {
	.name = "trace",
	.summary = "convert, dump or measure a trace, or turn it into a C program",
	.about = "Reads a trace, text or binary, told apart by content. '-' is standard input.",
	.words = "FILE",
	.commands = (const struct command *const[]){&trace_convert, &trace_dump, &trace_stat, &trace_program, NULL},
	.more = "'fission trace COMMAND --help' has the options and examples of each.",
	.examples = (const struct command_example[]){
		{"fission trace stat run.ftr", NULL},
		{"fission trace dump run.ftr >run.std", NULL},
		{"fission trace convert -o run.std run.ftr", NULL},
		{0},
	},
	.statuses = trace_statuses,
	.see = (const char *const[]){"record", "check", NULL},
};
