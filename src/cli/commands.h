/* SPDX-License-Identifier: MIT */
/*
 * The seam for commands: one file each, listed in main.c.
 *
 * A command is a table: what it is called, what it takes, what it is for. Its --help, its man page and its completion
 * in three shells all come from that table, and so does the parsing of its options: when `run` is called they have been
 * taken out of argv and stand where the table says, in static variables of the command's file. Every command has the
 * common options (manner.h) beside its own.
 *
 * A command without `options` gets its arguments untouched, --help among them: cc, whose options are a compiler's.
 */
#ifndef FISSION_CLI_COMMANDS_H
#define FISSION_CLI_COMMANDS_H

#include <stdbool.h>

#include "base/opts.h"

/* A line for a shell, and what it is good for. */
struct command_example {
	const char *line;  /* NULL ends the list */
	const char *about; /* may be NULL */
};

struct command_status {
	const char *status; /* "0", "66", "other"; NULL ends the list */
	const char *about;
};

struct command {
	const char *name;
	const char *summary; /* one line */
	/*
	 * argv[0] is the command's name, or the link fission-NAME it was called by; the operands, if there are options, or
	 * else all arguments, come from argv[1] on, and NULL. Returns the exit status.
	 */
	int (*run)(int argc, char **argv);
	const char *words;  /* what follows the options: "FILE...", "PROGRAM [ARGUMENTS...]"; completion goes by it, too */
	unsigned least, most; /* how many words; most 0: as many as there are */
	bool leading;       /* the first word ends the options: it is a program */
	bool variable;      /* FISSION_OPTIONS is read before its options */
	bool hidden;        /* in no list of commands */
	const char *about;  /* paragraphs, with an empty line between two; whoever shows them breaks the lines */
	const struct opt_group *options;
	const char *more;   /* further paragraphs, behind the options */
	const struct command_example *examples;
	const struct command_status *statuses;
	const char *const *see; /* other commands, "run", or pages, "gcc(1)"; NULL at the end */
	const struct command *const *commands; /* that this one consists of: `trace`; NULL at the end */
};

/* The tool as a whole: its `commands` are all that there are. */
extern const struct command command_all;

extern const struct command command_baseline, command_cc, command_chase, command_check, command_cxx, command_demo,
	command_diff, command_doctor, command_list, command_merge, command_pairs, command_predict, command_record,
	command_replay, command_report, command_run, command_show, command_speculate, command_suppress, command_trace,
	command_work;

#endif
