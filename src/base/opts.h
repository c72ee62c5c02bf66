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

/*
 * The values of an option that can be enumerated, for checking them, for the help and for completion: the i-th one, and
 * in *about, if that is not NULL, a line on it or NULL; NULL behind the last one.
 */
typedef const char *opt_values(size_t i, const char **about);

struct opt {
	const char *name;    /* without the dashes; NULL ends the table */
	char letter;         /* the short form, or 0 */
	enum opt_kind kind;
	void *to;            /* bool, const char * or unsigned long, by kind */
	const char *argument; /* its name in the help, for OPT_TEXT and OPT_COUNT; completion goes by it, too: FILE, DIR */
	const char *help;
	opt_values *values;  /* NULL: anything */
	bool many;           /* a list of them, with commas */
	bool first;          /* what stands before the first comma is one of them, the rest is not */
	const char *(*right)(const char *value); /* NULL, or what it takes, if the value is wrong: "takes seconds, as 90" */
	bool hidden;         /* not in the help: it is for tests of the tool itself */
	bool line_only;      /* not in FISSION_OPTIONS, where another command's option of that name is meant */
};

/* Tables under their headings; a group without a table ends the list. */
struct opt_group {
	const char *title;
	const struct opt *table;
};

/* Who has written the words that are parsed, and what a mistake of theirs is. */
struct opts_source {
	const char *name; /* the command, or "FISSION_OPTIONS:17" */
	const char *dash; /* in front of options in messages: "--" */
	const char *help; /* the command that lists them: "fission run" */
	int status;       /* STATUS_USAGE */
};

/*
 * Takes the options out of argv (argv[0] is not looked at) and leaves the operands, in order, from argv[1] on.
 * Returns the number of operands. A mistake ends the tool with STATUS_USAGE, naming `command`. If `leading`, the first
 * operand ends the options: it is a program, and what follows is its own.
 */
int opts_parse_groups(const struct opt_group *groups, const char *command, bool leading, char **argv);

/* Sets one option from its value, NULL for a flag that is set. A bad value ends the tool as the source says. */
void opts_set(const struct opt *o, const struct opts_source *source, const char *value);

/* The option of that name, or NULL. */
const struct opt *opts_named(const struct opt_group *groups, const char *name, size_t n);

/* For option tables: the values of a list of words with NULL at its end. */
const char *opts_word(const char *const *words, size_t i, const char **about);

/* The same for one table. */
int opts_parse(const struct opt *table, const char *command, int argc, char **argv);

/* What the help says of the option: its text, and its values, unless they have lines of their own. */
void opts_about(const struct opt *o, char *to, size_t size);

/* The option as the help shows it: "-o, --output=FILE". */
void opts_title(const struct opt *o, char *to, size_t size);

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
