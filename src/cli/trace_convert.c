/* SPDX-License-Identifier: MIT */
/*
 * fission trace convert and dump: a trace in, the same trace out.
 *
 * Nothing but the syntax is looked at, so traces that are not well-formed can be converted too. A file that is
 * damaged gives no output file; one that was merely cut gives its events up to the cut, and a warning.
 */
#include "trace.h"

#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/opts.h"

static struct {
	const char *to, *out;
} options = {.out = "-"};

static const char *forms(size_t i, const char **about)
{
	static const char *const words[] = {"text", "binary", NULL};

	return opts_word(words, i, about);
}

static void copy(struct trace_file *f, struct trace_writer *w, const char *done)
{
	struct event events[TRACE_BATCH];
	size_t n;

	while ((n = trace_file_next(f, events, done)) > 0)
		for (size_t i = 0; i < n; i++)
			trace_put(w, &events[i]);
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* The form that was asked for, or that the output's name stands for, or the other one. */
static const struct trace_format *format_of(const struct trace *t)
{
	if (options.to)
		return trace_format_named(options.to);
	if (ends_with(options.out, ".ftr"))
		return &trace_bin;
	if (ends_with(options.out, ".std") || ends_with(options.out, ".txt"))
		return &trace_text;
	return t->format == &trace_bin ? &trace_text : &trace_bin;
}

static void create(struct trace_writer *w, const struct trace_format *format, const char *out,
	struct trace_file *f)
{
	if (format == &trace_bin && strcmp(out, "-") == 0 && isatty(STDOUT_FILENO))
		die(STATUS_USAGE, "trace convert: a binary trace is not for a terminal; use -o FILE or --to=text");
	if (!trace_create(w, format, out, &f->tables, &f->arena))
		die(w->output.fault.status, "%s", w->output.fault.text);
}

static void commit(struct trace_writer *w)
{
	if (!trace_commit(w))
		die(w->output.fault.status, "%s", w->output.fault.text);
}

static int convert_main(int argc, char **argv)
{
	struct trace_file f;
	struct trace_writer w;

	(void)argc;
	trace_file_open(&f, argv[1]);
	create(&w, format_of(&f.trace), options.out, &f);
	trace_file_watch(&f, options.out);
	copy(&f, &w, "converted");
	if (fault_is_set(&f.trace.fault))
		trace_abort(&w);
	trace_file_finish(&f, "converted");
	commit(&w);
	trace_file_close(&f);
	return STATUS_CLEAN;
}

static int dump_main(int argc, char **argv)
{
	struct trace_file f;
	struct trace_writer w;

	(void)argc;
	trace_file_open(&f, argv[1]);
	create(&w, &trace_text, "-", &f);
	trace_file_watch(&f, "-");
	copy(&f, &w, "shown");
	commit(&w);
	trace_file_finish(&f, "shown");
	trace_file_close(&f);
	return STATUS_CLEAN;
}

static const struct opt convert_options[] = {
	{"to", 0, OPT_TEXT, &options.to, "FORM", "the form to write", .values = forms},
	{"output", 'o', OPT_TEXT, &options.out, "FILE", "where to write (default: standard output)"},
	TRACE_LENIENT,
	{0},
};

const struct command trace_convert = {
	.name = "convert",
	.summary = "the same trace as text or binary",
	.run = convert_main,
	.words = "FILE",
	.least = 1,
	.most = 1,
	.about = "Writes the trace in the other form, text or binary, without loss. '-' is standard input.",
	.options = (const struct opt_group[]){{"Options", convert_options}, {0}},
	.more = "Without --to, the name of the output decides: .ftr is binary, .std and .txt are text. Otherwise text becomes "
		"binary and binary becomes text.",
	.examples = (const struct command_example[]){
		{"fission trace convert -o run.ftr run.std", NULL},
		{"fission trace convert --to=text run.ftr | grep 'acq('", NULL},
		{"zcat trace.std.gz | fission trace convert --lenient -o trace.ftr -", NULL},
		{0},
	},
	.statuses = trace_statuses,
	.see = (const char *const[]){"trace", "record", NULL},
};

static const struct opt dump_options[] = {
	TRACE_LENIENT,
	{0},
};

const struct command trace_dump = {
	.name = "dump",
	.summary = "the trace as text, on standard output",
	.run = dump_main,
	.words = "FILE",
	.least = 1,
	.most = 1,
	.about = "Shows the trace as text, with its stacks and modules; a damaged one up to the damage. '-' is standard input.",
	.options = (const struct opt_group[]){{"Options", dump_options}, {0}},
	.examples = (const struct command_example[]){
		{"fission trace dump run.ftr | less", NULL},
		{"fission trace dump run.ftr | grep '^T1|'", NULL},
		{"fission trace dump - <run.ftr | grep '^# module'", NULL},
		{0},
	},
	.statuses = trace_statuses,
	.see = (const char *const[]){"trace", "record", NULL},
};
