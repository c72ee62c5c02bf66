/* SPDX-License-Identifier: MIT */
#include "start.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/opts.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/manner.h"
#include "cli/variable.h"

enum { MOST_COMMANDS = 64 };

size_t start_groups(const struct command *c, struct opt_group *to)
{
	size_t n = 0;

	while (c->options && c->options[n].table && n < START_GROUPS - 2) {
		to[n] = c->options[n];
		n++;
	}
	if (c->options)
		to[n++] = (struct opt_group){"Common options", manner_options};
	to[n] = (struct opt_group){0};
	return n;
}

const struct command *start_find(const struct command *const *commands, const char *name)
{
	for (; *commands; commands++)
		if (strcmp(name, (*commands)->name) == 0)
			return *commands;
	return NULL;
}

static size_t names_of(const struct command *const *commands, const char **names)
{
	size_t n = 0;

	for (; *commands && n < MOST_COMMANDS; commands++)
		if (!(*commands)->hidden)
			names[n++] = (*commands)->name;
	return n;
}

const char *start_nearest(const struct command *const *commands, const char *word)
{
	const char *names[MOST_COMMANDS];

	return opts_nearest(word, names, names_of(commands, names));
}

void start_unknown(const struct command *const *commands, const char *what, const char *word, const char *help)
{
	const char *names[MOST_COMMANDS];

	opts_unknown(what, word, names, names_of(commands, names), help);
}

/* What the word of that number, from 0, is called. */
static const char *word_at(const char *words, unsigned number)
{
	while (number--) {
		words += strcspn(words, " ");
		words += strspn(words, " ");
	}
	return words;
}

/* "no FILE given" */
static void count_words(const struct command *c, const char *name, unsigned n)
{
	const char *missing = n < c->least ? word_at(c->words, n) : NULL;

	if (missing)
		die(STATUS_USAGE, "%s: no %.*s given; 'fission %s --help' shows how", name, (int)strcspn(missing, " .]"), missing,
			name);
	if ((c->most || !c->words) && n > c->most)
		die(STATUS_USAGE, "%s: too many words; 'fission %s --help' shows how", name, name);
}

bool start_is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* A command that consists of others. */
static int start_one_of(const struct command *c, const char *name, int argc, char **argv)
{
	const struct command *found;
	char whole[64], help[80], what[80];

	snprintf(help, sizeof help, "fission %s", name);
	snprintf(what, sizeof what, "%s command", name);
	if (argc < 2)
		die(STATUS_USAGE, "%s: no command given; '%s --help' lists them", name, help);
	if (start_is_help(argv[1])) {
		help_print(stdout, c, name);
		return STATUS_CLEAN;
	}
	found = start_find(c->commands, argv[1]);
	if (!found)
		start_unknown(c->commands, what, argv[1], help);
	snprintf(whole, sizeof whole, "%s %s", name, found->name);
	return start(found, whole, argc - 1, argv + 1);
}

/* Somebody who asks for help is not told about the environment first. */
static bool wants_help(const struct command *c, char **argv)
{
	for (argv++; *argv && strcmp(*argv, "--") != 0 && (**argv == '-' || !c->leading); argv++)
		if (start_is_help(*argv))
			return true;
	return false;
}

/* The variable first, then the command line, which wins. */
static int parse(const struct command *c, const char *name, const struct opt_group *groups, char **argv)
{
	bool quiet, verbose;
	int operands;

	if (c->variable && !wants_help(c, argv))
		variable_read(c);
	quiet = manner.quiet;
	verbose = manner.verbose;
	manner.quiet = manner.verbose = false;
	operands = opts_parse_groups(groups, name, c->leading, argv);
	if (!manner.quiet && !manner.verbose) {
		manner.quiet = quiet && !verbose;
		manner.verbose = verbose;
	}
	return operands;
}

int start(const struct command *c, const char *name, int argc, char **argv)
{
	struct opt_group groups[START_GROUPS];
	int operands;

	if (c->commands)
		return start_one_of(c, name, argc, argv);
	if (!c->options && c->about && argc > 1 && strcmp(argv[0], c->name) == 0 && start_is_help(argv[1])) {
		help_print(stdout, c, name);
		return STATUS_CLEAN;
	}
	if (!c->options)
		return c->run(argc, argv);
	start_groups(c, groups);
	operands = parse(c, name, groups, argv);
	if (manner.help) {
		help_print(stdout, c, name);
		return STATUS_CLEAN;
	}
	if (manner.quiet && manner.verbose)
		die(STATUS_USAGE, "%s: --quiet and --verbose exclude each other", name);
	count_words(c, name, (unsigned)operands);
	return c->run(operands + 1, argv);
}
