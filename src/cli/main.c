/* SPDX-License-Identifier: MIT */
/* The front door: a table of commands. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/opts.h"
#include "cli/commands.h"
#include "collect/program.h"

static const struct command *const commands[] = {
	&command_cc, &command_cxx, &command_run, &command_record, &command_check, &command_trace,
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *to)
{
	fputs("usage: fission COMMAND [options] ...\n"
	      "\n"
	      "Finds atomicity violations: code that was meant to run as one step and that another thread split.\n"
	      "\n"
	      "Commands:\n", to);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(to, "  %-10s%s\n", commands[i]->name, commands[i]->summary);
	fputs("\n"
	      "'fission COMMAND --help' has the options of each.\n"
	      "\n"
	      "Examples:\n"
	      "  fission ./bank                         (as 'fission run ./bank')\n"
	      "  fission check examples/bank.std\n"
	      "  fission check --format=json run.ftr\n"
	      "  fission trace convert -o run.ftr run.std\n", to);
}

_Noreturn static void unknown(const char *word)
{
	const char *names[COMMANDS];

	if (*word == '-')
		opts_unknown("option", word, (const char *const[]){"--help", "--version"}, 2, "fission");
	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = commands[i]->name;
	if (!opts_nearest(word, names, COMMANDS) && program_is_here(word))
		die(STATUS_USAGE, "unknown command '%s'; to run the program of that name: fission ./%s", word, word);
	opts_unknown("command", word, names, COMMANDS, "fission");
}

static const struct command *command_named(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(name, commands[i]->name) == 0)
			return commands[i];
	return NULL;
}

/* `fission help COMMAND` is `fission COMMAND --help`. */
static int help_about(char *name)
{
	const struct command *c = command_named(name);
	char flag[] = "--help", *words[] = {name, flag, NULL};

	if (!c)
		unknown(name);
	return c->run(2, words);
}

/* fission-NAME, a link to the tool, is the command NAME; NULL if the tool was called by another name. */
static const struct command *command_by_link(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return strncmp(name, "fission-", 8) == 0 ? command_named(name + 8) : NULL;
}

static int command(int argc, char **argv)
{
	const struct command *linked = argc > 0 ? command_by_link(argv[0]) : NULL, *named;

	if (linked)
		return linked->run(argc, argv);
	if (argc < 2) {
		print_help(stderr);
		return STATUS_USAGE;
	}
	if (argc > 2 && strcmp(argv[1], "help") == 0)
		return help_about(argv[2]);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
		print_help(stdout);
		return STATUS_CLEAN;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("fission " FISSION_VERSION);
		return STATUS_CLEAN;
	}
	named = command_named(argv[1]);
	if (named)
		return named->run(argc - 1, argv + 1);
	/* `fission ./prog` means `fission run ./prog`: what has a slash is no command. */
	if (strchr(argv[1], '/'))
		return command_run.run(argc, argv);
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
