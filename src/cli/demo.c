/* SPDX-License-Identifier: MIT */
/*
 * fission demo: the whole way on a shipped example, in a temporary directory: compile, run, report. It shows each
 * command as a user would give it, and runs that.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/commands.h"
#include "cli/manner.h"
#include "cli/workshop.h"

static struct workshop shop;

/* The examples are beside the tool as it is built, and in ../share/fission as installed. */
static FILE *open_example(const char *name)
{
	static const char *const places[] = {"examples", "../share/fission/examples"};
	char path[PATH_MAX + 128];
	FILE *f = NULL;

	for (size_t i = 0; i < 2 && !f; i++) {
		const char *slash = strrchr(shop.self, '/');

		snprintf(path, sizeof path, "%.*s/%s/%s", (int)(slash - shop.self), shop.self, places[i], name);
		f = fopen(path, "re");
	}
	return f;
}

/* Copies the example into the workshop, and shows the function that is wrong, up to its closing brace. */
static void copy_example(FILE *from, const char *name, const char *function)
{
	FILE *to = fopen(workshop_path(&shop, name), "we");
	char line[512];
	bool inside = false;

	while (to && fgets(line, sizeof line, from)) {
		fputs(line, to);
		inside |= strncmp(line, function, strlen(function)) == 0;
		if (inside && !manner.quiet)
			printf("    %s", line);
		inside &= line[0] != '}';
	}
	fclose(from);
	if (!to || fclose(to) != 0)
		die(STATUS_UNFIT, "%s: %s", shop.path, strerror(errno));
}

static void say(const char *text)
{
	if (!manner.quiet)
		puts(text);
}

static int build(void)
{
	const char *const words[] = {"cc", "-O1", "-pthread", "bank.c", "-o", "bank", NULL};

	say("\n$ fission-cc -O1 -pthread bank.c -o bank");
	return workshop_run(&shop, words, NULL);
}

static int check(void)
{
	const char *colour = manner_colours(STDERR_FILENO) ? "--color=always" : "--color=never";
	const char *const words[] = {"run", colour, "./bank", NULL};

	say("$ fission run ./bank");
	return workshop_run(&shop, words, NULL);
}

static void tell_next(void)
{
	const char *prefix = workshop_prefix(&shop);

	if (manner.quiet)
		return;
	printf("\nThe exit status was %d: something was found that cannot be a false alarm, and matters.\n"
	       "\n"
	       "Next, your own program:\n"
	       "  make clean; make CC=%sfission-cc CXX=%sfission-c++\n"
	       "  %sfission run ./your-program\n"
	       "  %sfission chase ./your-program   # if that shows nothing: tries other orders\n"
	       "\n"
	       "'%sfission doctor ./your-program' tells whether it was built for that.\n", STATUS_FINDINGS, prefix,
		prefix, prefix, prefix, prefix);
}

static int demo(void)
{
	FILE *example = open_example("bank.c");
	int status;

	if (!example)
		die(STATUS_UNFIT, "the examples are not beside the tool, nor in ../share/fission; install Fission as a whole");
	say("A bank account, two customers, every access under the same lock (bank.c):\n");
	copy_example(example, "bank.c", "static void withdraw");
	status = build();
	if (status != 0)
		return STATUS_UNFIT;
	status = check();
	/* Now and then one customer is done before the other starts, and then there is only a suspicion. */
	for (int more = 3; status == STATUS_CLEAN && more > 0; more--) {
		say("\nThat run leaves room for doubt. Another one:\n");
		status = check();
	}
	if (status != STATUS_FINDINGS) {
		warn("the demo should have ended with status %d, not %d; 'fission doctor' may know why", STATUS_FINDINGS, status);
		return STATUS_TOOL;
	}
	tell_next();
	return STATUS_CLEAN;
}

static int demo_main(int argc, char **argv)
{
	int status;

	(void)argc, (void)argv;
	if (!workshop_open(&shop))
		die(STATUS_UNFIT, "no temporary directory can be made: %s; set TMPDIR to one", strerror(errno));
	status = demo();
	workshop_close(&shop);
	return status;
}

const struct command command_demo = {
	.name = "demo",
	.summary = "the whole way on a shipped example, in seconds",
	.run = demo_main,
	.about = "Compiles a shipped example, a bank account whose every access is under a lock, runs it, and shows what Fission "
		"finds in it; then says how to do the same with a program of your own. It works in a temporary directory and leaves "
		"nothing behind.",
	.options = (const struct opt_group[]){{0}},
	.examples = (const struct command_example[]){
		{"fission demo", NULL},
		{"FISSION_CC=clang fission demo", "with another compiler"},
		{"fission demo --color=always | less -R", NULL},
		{0},
	},
	.statuses = (const struct command_status[]){
		{"0", "done"},
		{"64", "a mistake in the command line"},
		{"69", "there is no compiler that works; 'fission doctor' says more"},
		{"70", "the example's mistake was not found"},
		{0},
	},
	.see = (const char *const[]){"cc", "run", "doctor", NULL},
};
