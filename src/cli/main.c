/* SPDX-License-Identifier: MIT */
/* The front door: a table of commands. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/opts.h"
#include "cli/commands.h"
#include "cli/generate.h"
#include "cli/help.h"
#include "cli/start.h"
#include "collect/program.h"

static const struct command *const commands[] = {
	&command_cc, &command_cxx, &command_run, &command_record, &command_check, &command_predict, &command_speculate,
	&command_chase, &command_replay, &command_work, &command_merge, &command_trace, &command_list, &command_show,
	&command_report, &command_suppress, &command_baseline,
	&command_diff, &command_doctor, &command_demo, NULL,
};

static const struct command_status statuses[] = {
#define STATUS_ROW(name, number, about) {#number, about},
	STATUSES(STATUS_ROW)
#undef STATUS_ROW
	{"other", "of run, record, cc and c++: the program's or the compiler's own; 128 and the signal if one ended it"},
	{0},
};

const struct command command_all = {
	.name = "fission",
	.summary = "find atomicity violations in multithreaded C and C++ programs",
	.about = "Finds atomicity violations: code that was meant to run as one step and that another thread can split.\n"
		"\n"
		"'fission ./bank' is short for 'fission run ./bank'. Everything behind the program's name is its own.",
	.words = "...",
	.commands = commands,
	.more = "'fission COMMAND --help' and 'fission help COMMAND' have the options and examples of each.",
	.examples = (const struct command_example[]){
		{"fission-cc -pthread bank.c -o bank && fission ./bank", NULL},
		{"fission check --format=json run.ftr", NULL},
		{"fission trace convert -o run.ftr run.std", NULL},
		{0},
	},
	.statuses = statuses,
};

_Noreturn static void unknown(const char *word)
{
	if (*word == '-')
		opts_unknown("option", word, (const char *const[]){"--help", "--version"}, 2, "fission");
	if (!start_nearest(commands, word) && program_is_here(word))
		die(STATUS_USAGE, "unknown command '%s'; to run the program of that name: fission ./%s", word, word);
	start_unknown(commands, "command", word, "fission");
}

/* `fission help COMMAND...` is `fission COMMAND... --help`. */
static int help_about(char **words)
{
	const struct command *const *from = commands, *c = NULL;
	char name[64] = "", help[80];

	for (; *words && from; words++) {
		c = start_find(from, *words);
		if (!c && from == commands)
			unknown(*words);
		snprintf(help, sizeof help, "fission %s", name);
		if (!c)
			start_unknown(from, "command", *words, help);
		snprintf(name + strlen(name), sizeof name - strlen(name), "%s%s", *name ? " " : "", c->name);
		from = c->commands;
	}
	if (*words)
		die(STATUS_USAGE, "help: '%s' is one word too many: 'fission help %s' has it all", *words, name);
	help_print(stdout, c, name);
	return STATUS_CLEAN;
}

/* fission-NAME, a link to the tool, is the command NAME; NULL if the tool was called by another name. */
static const struct command *command_by_link(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return strncmp(name, "fission-", 8) == 0 ? start_find(commands, name + 8) : NULL;
}

static bool is(const char *word, const char *other)
{
	return strcmp(word, other) == 0;
}

/* What the tool itself is asked for; -1: nothing. */
static int question(int argc, char **argv)
{
	if (argc > 2 && is(argv[1], "help") && !start_is_help(argv[2]))
		return help_about(argv + 2);
	if (start_is_help(argv[1]) || is(argv[1], "help")) {
		help_print(stdout, &command_all, "");
		return STATUS_CLEAN;
	}
	if (is(argv[1], "--version")) {
		puts("fission " FISSION_VERSION);
		return STATUS_CLEAN;
	}
	return is(argv[1], "--generate") ? generate(argc - 2, argv + 2) : -1;
}

static int command(int argc, char **argv)
{
	const struct command *linked = argc > 0 ? command_by_link(argv[0]) : NULL, *named;
	int status;

	if (linked)
		return start(linked, linked->name, argc, argv);
	if (argc < 2) {
		help_print(stderr, &command_all, "");
		return STATUS_USAGE;
	}
	status = question(argc, argv);
	if (status >= 0)
		return status;
	named = start_find(commands, argv[1]);
	if (named)
		return start(named, named->name, argc - 1, argv + 1);
	/* `fission ./prog` means `fission run ./prog`: what has a slash is no command. */
	if (strchr(argv[1], '/'))
		return start(&command_run, command_run.name, argc, argv);
	unknown(argv[1]);
}

int main(int argc, char **argv)
{
	int status;

	program_prepare();
	/* A closed pipe is a failed write, with a message and a status, and not a silent death. */
	signal(SIGPIPE, SIG_IGN);
	status = command(argc, argv);
	if (fflush(stdout) != 0 || ferror(stdout))
		die(STATUS_UNFIT, "standard output: %s", strerror(errno));
	return status;
}
