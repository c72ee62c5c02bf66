/* SPDX-License-Identifier: MIT */
/* What the parts of `fission trace` share. */
#ifndef FISSION_CLI_TRACE_H
#define FISSION_CLI_TRACE_H

#include <stdbool.h>

#include "base/arena.h"
#include "cli/commands.h"
#include "event/tables.h"
#include "event/trace.h"

struct opt;

/* A trace that is being read, and everything that belongs to it. */
struct trace_file {
	struct arena arena;
	struct tables tables;
	struct trace trace;
};

/* Ends the tool with the fault's status if the file cannot be read. */
void trace_file_open(struct trace_file *f, const char *path, bool lenient);

/*
 * At the end of the events: ends the tool if they ended with a fault, and warns if the file was cut or lines were
 * skipped. `done` says what happened to the events before: "converted".
 */
void trace_file_finish(struct trace_file *f, const char *done);

void trace_file_close(struct trace_file *f);

/* The texts around the table of options in a help text. */
struct trace_help {
	const char *command; /* "trace convert" */
	const char *usage, *examples;
};

/*
 * Parses the options and returns the one operand. Ends the tool if there is none or another, and, after the help,
 * if `help` has become true.
 */
const char *trace_arguments(const struct trace_help *h, const struct opt *table, const bool *help, int argc,
	char **argv);

extern const struct command trace_convert, trace_dump, trace_stat;

#endif
