/* SPDX-License-Identifier: MIT */
/*
 * Options as a table: one line an option, one parser for all commands.
 *
 * --name=value, --name value and -x value are the same thing; "--" ends the options, and so does, where another
 * program's words follow, the first operand. What is not in the table is an error that names the nearest entry.
 */
#ifndef FISSION_BASE_OPTS_H
#define FISSION_BASE_OPTS_H

#include <stdbool.h>
#include <stddef.h>

enum opt_kind { OPT_FLAG, OPT_TEXT, OPT_COUNT };

struct opt {
	const char *name;    /* without the dashes; NULL ends the table */
	char letter;         /* the short form, or 0 */
	enum opt_kind kind;
	void *to;            /* bool, const char * or unsigned long, by kind */
	const char *argument; /* its name in the help, for OPT_TEXT and OPT_COUNT */
	const char *help;
};

/*
 * Takes the options out of argv (argv[0] is not looked at) and leaves the operands, in order, from argv[1] on.
 * Returns the number of operands. A mistake ends the tool with STATUS_USAGE, naming `command`.
 */
int opts_parse(const struct opt *table, const char *command, int argc, char **argv);

/* The same, but the first operand ends the options: it is a program, and what follows is its own. */
int opts_parse_leading(const struct opt *table, const char *command, int argc, char **argv);

/* Prints the table as the options part of a help text. */
void opts_help(const struct opt *table);

/* The nearest of n names to a misspelt one, or NULL when none is near: for did-you-mean. */
const char *opts_nearest(const char *word, const char *const *names, size_t n);

/*
 * Ends the tool with STATUS_USAGE: the word, which `what` says the kind of, is none of the names. `help` is the
 * command that lists them.
 */
_Noreturn void opts_unknown(const char *what, const char *word, const char *const *names, size_t n, const char *help);

#endif
