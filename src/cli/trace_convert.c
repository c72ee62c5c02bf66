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

struct convert {
	const char *to, *out;
	bool lenient, help;
};

static void copy(struct trace *t, struct trace_writer *w)
{
	struct event events[TRACE_BATCH];
	size_t n;

	while ((n = trace_next(t, events, TRACE_BATCH)) > 0)
		for (size_t i = 0; i < n; i++)
			trace_put(w, &events[i]);
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* The form that was asked for, or that the output's name stands for, or the other one. */
static const struct trace_format *format_of(const struct convert *o, const struct trace *t)
{
	const struct trace_format *f;

	if (o->to) {
		f = trace_format_named(o->to);
		if (!f)
			die(STATUS_USAGE, "trace convert: unknown form '%s'; there are text and binary", o->to);
		return f;
	}
	if (ends_with(o->out, ".ftr"))
		return &trace_bin;
	if (ends_with(o->out, ".std") || ends_with(o->out, ".txt"))
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

static const struct trace_help convert_help = {
	.command = "trace convert",
	.usage = "usage: fission trace convert [options] FILE\n"
		 "\n"
		 "Writes the trace in the other form, text or binary, without loss. '-' is standard input.\n"
		 "\n",
	.examples = "\n"
		    "Without --to, the name of the output decides: .ftr is binary, .std and .txt are text.\n"
		    "Otherwise text becomes binary and binary becomes text.\n"
		    "\n"
		    "Examples:\n"
		    "  fission trace convert -o run.ftr run.std\n"
		    "  fission trace convert --to=text run.ftr | grep 'acq('\n"
		    "  zcat trace.std.gz | fission trace convert --lenient -o trace.ftr -\n",
};

static int convert_main(int argc, char **argv)
{
	struct convert o = {.out = "-"};
	const struct opt table[] = {
		{"to", 0, OPT_TEXT, &o.to, "FORM", "text or binary"},
		{"output", 'o', OPT_TEXT, &o.out, "FILE", "where to write (default: standard output)"},
		{"lenient", 0, OPT_FLAG, &o.lenient, NULL, "skip lines that cannot be parsed, and count them"},
		{"help", 'h', OPT_FLAG, &o.help, NULL, "this text"},
		{0},
	};
	const char *path = trace_arguments(&convert_help, table, &o.help, argc, argv);
	struct trace_file f;
	struct trace_writer w;

	trace_file_open(&f, path, o.lenient);
	create(&w, format_of(&o, &f.trace), o.out, &f);
	copy(&f.trace, &w);
	if (fault_is_set(&f.trace.fault))
		trace_abort(&w);
	trace_file_finish(&f, "converted");
	commit(&w);
	trace_file_close(&f);
	return STATUS_CLEAN;
}

static const struct trace_help dump_help = {
	.command = "trace dump",
	.usage = "usage: fission trace dump [options] FILE\n"
		 "\n"
		 "Shows the trace as text, with its stacks and modules; a damaged one up to the damage.\n"
		 "\n",
	.examples = "\n"
		    "Examples:\n"
		    "  fission trace dump run.ftr | less\n"
		    "  fission trace dump run.ftr | grep '^T1|'\n"
		    "  fission trace dump - <run.ftr | grep '^# module'\n",
};

static int dump_main(int argc, char **argv)
{
	bool lenient = false, help = false;
	const struct opt table[] = {
		{"lenient", 0, OPT_FLAG, &lenient, NULL, "skip lines that cannot be parsed, and count them"},
		{"help", 'h', OPT_FLAG, &help, NULL, "this text"},
		{0},
	};
	const char *path = trace_arguments(&dump_help, table, &help, argc, argv);
	struct trace_file f;
	struct trace_writer w;

	trace_file_open(&f, path, lenient);
	create(&w, &trace_text, "-", &f);
	copy(&f.trace, &w);
	commit(&w);
	trace_file_finish(&f, "shown");
	trace_file_close(&f);
	return STATUS_CLEAN;
}

const struct command trace_convert = {
	.name = "convert",
	.summary = "the same trace as text or binary",
	.run = convert_main,
};

const struct command trace_dump = {
	.name = "dump",
	.summary = "the trace as text, on standard output",
	.run = dump_main,
};
