/* SPDX-License-Identifier: MIT */
/*
 * Random testing of one of these programs: how often do both threads come to the code of the bug, with inputs by
 * chance? Made with -DPROGRAM='"magic.c"'; usage: chance TRIES LEAST [ARGUMENTS...], the arguments being those that the
 * program is given. Each try is a process: what has a name gets random bytes; an argument that is a number becomes
 * another one of 32 bits, other arguments random text of up to 32 bytes, and so do the variable LEVEL and the words of
 * files that arguments name (they have a dot); standard input is two numbers. Prints how often there were LEAST writes
 * of the total or more.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fission.h>

static unsigned long long chance_state;

static unsigned chance(void)
{
	chance_state = chance_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(chance_state >> 32);
}

static void chance_input(void *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		((unsigned char *)at)[i] = (unsigned char)chance();
}

#undef fission_input
#define fission_input(at, bytes, name) chance_input(at, bytes)
#define main program_main
#include PROGRAM
#undef main

static char *chance_text(const char *like)
{
	char *text = malloc(64);
	size_t n = chance() % 33, dashes = strspn(like, "-");

	if (strspn(like + dashes, "0123456789")) {
		snprintf(text, 64, "%d", (int)chance());
		return text;
	}
	memcpy(text, like, dashes);
	for (size_t i = dashes; i < dashes + n; i++)
		text[i] = (char)(' ' + chance() % 95);
	text[dashes + n] = 0;
	return text;
}

static void chance_file(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	dprintf(fd, "%s %s\n%s %d\n", chance_text("a"), chance_text("a"), chance_text("a"), (int)chance());
	close(fd);
}

/* Two numbers. */
static void chance_stdin(void)
{
	int ends[2], nothing = open("/dev/null", O_WRONLY);

	if (pipe(ends) != 0)
		_exit(0);
	dprintf(ends[1], "%d %d\n", (int)chance(), (int)chance());
	close(ends[1]);
	dup2(ends[0], 0);
	dup2(nothing, 1);
	dup2(nothing, 2);
}

static int chance_try(int argc, char **argv, int least)
{
	int (*volatile run)(int, char **) = (int (*)(int, char **))(void *)program_main; /* some have no parameters */
	char **words = calloc((size_t)argc + 1, sizeof *words);

	for (int i = 0; i < argc; i++) {
		words[i] = i && !strchr(argv[i], '.') ? chance_text(argv[i]) : argv[i];
		if (i && words[i] == argv[i])
			chance_file(argv[i]);
	}
	setenv("LEVEL", chance_text("low"), 1);
	chance_stdin();
	run(argc, words);
	return writes >= least;
}

int main(int argc, char **argv)
{
	int tries = argc > 2 ? atoi(argv[1]) : 0, least = argc > 2 ? atoi(argv[2]) : 0, reached = 0, status;

	for (int i = 0; i < tries; i++) {
		pid_t child = fork();

		if (child == 0) {
			chance_state = (unsigned long long)i * 2654435761u + 1;
			_exit(chance_try(argc - 2, argv + 2, least));
		}
		reached += waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1;
	}
	printf("%d\n", reached);
	return 0;
}
