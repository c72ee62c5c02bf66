/* SPDX-License-Identifier: MIT */
/* What the parts of `fission trace` share. */
#ifndef FISSION_CLI_TRACE_H
#define FISSION_CLI_TRACE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/progress.h"
#include "cli/commands.h"
#include "event/tables.h"
#include "event/trace.h"

/* A trace that is being read, and everything that belongs to it. */
struct trace_file {
	struct arena arena;
	struct tables tables;
	struct trace trace;
	struct progress progress;
	uint64_t events; /* that trace_file_next has given */
};

/* Ends the tool with the fault's status if the file cannot be read. */
void trace_file_open(struct trace_file *f, const char *path);

/* Shows from now on how far it has come, unless what is written to `output` stands on the terminal itself. */
void trace_file_watch(struct trace_file *f, const char *output);

/* The next TRACE_BATCH events, or fewer; 0 at the end. `done` says what happens to them: "converted". */
size_t trace_file_next(struct trace_file *f, struct event *to, const char *done);

/*
 * At the end of the events: ends the tool if they ended with a fault, and warns if the file was cut or lines were
 * skipped. `done` says what happened to the events before: "converted".
 */
void trace_file_finish(struct trace_file *f, const char *done);

void trace_file_close(struct trace_file *f);

/* The option that all of them have. */
extern bool trace_lenient;

#define TRACE_LENIENT \
	{"lenient", 0, OPT_FLAG, &trace_lenient, NULL, "skip lines that cannot be parsed, and count them"}

/* What all of them can end with. */
extern const struct command_status trace_statuses[];

extern const struct command trace_convert, trace_dump, trace_stat;

#endif
