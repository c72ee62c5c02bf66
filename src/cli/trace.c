/* SPDX-License-Identifier: MIT */
/* fission trace: what can be done with a trace besides checking it. One file a subcommand. */
#include "trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/opts.h"
#include "base/output.h"
#include "cli/trace_program.h"

void trace_file_open(struct trace_file *f, const char *path, bool lenient)
{
	arena_init(&f->arena);
	tables_init(&f->tables, &f->arena);
	if (!trace_open(&f->trace, path, &f->tables, lenient))
		die(f->trace.fault.status, "%s", f->trace.fault.text);
}

void trace_file_finish(struct trace_file *f, const char *done)
{
	const struct trace *t = &f->trace;

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

const char *trace_arguments(const struct trace_help *h, const struct opt *table, const bool *help, int argc,
	char **argv)
{
	int operands = opts_parse(table, h->command, argc, argv);

	if (*help) {
		fputs(h->usage, stdout);
		opts_help(table);
		fputs(h->examples, stdout);
		exit(STATUS_CLEAN);
	}
	if (operands != 1)
		die(STATUS_USAGE, "%s: %s; 'fission %s --help' shows how", h->command,
			operands ? "one trace at a time" : "no trace given", h->command);
	return argv[1];
}

static const struct trace_help program_help = {
	.command = "trace program",
	.usage = "usage: fission trace program [options] FILE\n"
		 "\n"
		 "Writes a C program that performs the trace, event by event, with real threads and locks.\n"
		 "\n",
	.examples = "\n"
		    "Examples:\n"
		    "  fission trace program -o bank.c examples/bank.std && cc -pthread bank.c\n"
		    "  fission trace program run.ftr | less\n"
		    "  grep -v '|exit' run.std | fission trace program --lenient - >run.c\n",
};

static int program_main(int argc, char **argv)
{
	const char *path, *out = "-";
	bool lenient = false, help = false;
	const struct opt table[] = {
		{"output", 'o', OPT_TEXT, &out, "FILE", "where to write (default: standard output)"},
		{"lenient", 0, OPT_FLAG, &lenient, NULL, "skip lines that cannot be parsed, and count them"},
		{"help", 'h', OPT_FLAG, &help, NULL, "this text"},
		{0},
	};
	struct trace_file f;
	struct output o;
	struct fault fault = {0};

	path = trace_arguments(&program_help, table, &help, argc, argv);
	trace_file_open(&f, path, lenient);
	if (!output_open(&o, out))
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

static const struct command trace_program = {
	.name = "program",
	.summary = "a C program that performs the trace",
	.run = program_main,
};

static const struct command *const commands[] = {&trace_convert, &trace_dump, &trace_stat, &trace_program};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(void)
{
	puts("usage: fission trace COMMAND [options] FILE\n"
	     "\n"
	     "Reads a trace, text or binary, told apart by content. '-' is standard input.\n"
	     "\n"
	     "Commands:");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-10s%s\n", commands[i]->name, commands[i]->summary);
	puts("\n"
	     "'fission trace COMMAND --help' has the options and examples of each.\n"
	     "\n"
	     "Exit status: 0, 64 usage or unreadable file, 65 malformed trace, 69 the output could not be\n"
	     "written.\n"
	     "\n"
	     "Examples:\n"
	     "  fission trace stat run.ftr\n"
	     "  fission trace dump run.ftr >run.std\n"
	     "  fission trace convert -o run.std run.ftr");
}

_Noreturn static void unknown(const char *word)
{
	const char *names[COMMANDS];

	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = commands[i]->name;
	opts_unknown("trace command", word, names, COMMANDS, "fission trace");
}

static int trace_main(int argc, char **argv)
{
	if (argc < 2)
		die(STATUS_USAGE, "trace: convert, dump, stat or program? 'fission trace --help' shows how");
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_help();
		return STATUS_CLEAN;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(argv[1], commands[i]->name) == 0)
			return commands[i]->run(argc - 1, argv + 1);
	unknown(argv[1]);
}

const struct command command_trace = {
	.name = "trace",
	.summary = "convert, dump or measure a trace, or turn it into a C program",
	.run = trace_main,
};
