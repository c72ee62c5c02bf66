/* SPDX-License-Identifier: MIT */
#include "cc_compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "cli/cc_words.h"

extern char **environ;

enum { UNKNOWN = -1, PROBE_WORDS = 6 };

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The file that execvp would run. False if there is none. */
static bool find_program(const char *name, char path[PATH_MAX])
{
	const char *directories = getenv("PATH");

	if (strchr(name, '/'))
		return access(name, X_OK) == 0 && snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
	for (const char *p = directories ? directories : "/usr/bin:/bin"; *p; p += strcspn(p, ":"), p += *p == ':') {
		int n = (int)strcspn(p, ":");

		if (snprintf(path, PATH_MAX, "%.*s%s%s", n, p, n ? "/" : "", name) < PATH_MAX &&
			access(path, X_OK) == 0)
			return true;
	}
	return false;
}

static bool find_file(const char *name, char file[PATH_MAX])
{
	char path[PATH_MAX];

	return find_program(name, path) && realpath(path, file);
}

/* A script can be named as it likes. */
static bool is_binary(const char *path)
{
	static const char magic[4] = {'\177', 'E', 'L', 'F'};
	char head[sizeof magic];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is = fd >= 0 && read(fd, head, sizeof head) == sizeof head && memcmp(head, magic, sizeof head) == 0;

	if (fd >= 0)
		close(fd);
	return is;
}

/* Programs that run the compiler which is their first argument. */
static bool is_launcher(const char *word)
{
	static const char *const names[] = {"ccache", "distcc", "icecc", "sccache"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(base_name(word), names[i]) == 0)
			return true;
	return false;
}

static const char *compiler_word(const struct cc_compiler *c)
{
	size_t i = 0;

	while (i + 1 < c->count && is_launcher(c->words[i]))
		i++;
	return c->words[i];
}

/* A command with arguments, or one path with blanks in it. */
static void split(struct cc_compiler *c, const char *command, struct arena *arena)
{
	const char *word;
	size_t capacity = 0;

	c->words = arena_reserve(arena, NULL, &capacity, 0, sizeof *c->words);
	if (access(command, X_OK) == 0) {
		c->words[c->count++] = command;
		return;
	}
	while ((word = cc_words_next(arena, &command))) {
		c->words = arena_reserve(arena, c->words, &capacity, c->count, sizeof *c->words);
		c->words[c->count++] = word;
	}
}

void cc_compiler_choose(struct cc_compiler *c, const char *variable, const char *fallback, struct arena *arena)
{
	const char *command = getenv(variable);
	char file[PATH_MAX], self[PATH_MAX];

	*c = (struct cc_compiler){.variable = variable};
	split(c, command ? command : "", arena);
	if (c->count == 0)
		split(c, fallback, arena);
	if (find_file(compiler_word(c), file) && realpath("/proc/self/exe", self) && strcmp(file, self) == 0)
		die(STATUS_UNFIT, "%s names Fission's own driver, '%s'; set it to the compiler to be used, such as gcc",
			variable, compiler_word(c));
}

void cc_compiler_missing(const struct cc_compiler *c, int error)
{
	/* execvp says "permission denied" of a missing file where a folder of PATH is closed. */
	bool missing = !strchr(c->words[0], '/') && (error == ENOENT || error == EACCES);

	die(STATUS_UNFIT, "cannot run the compiler '%s': %s; set %s to one, such as gcc or clang", c->words[0],
		missing ? "not found in PATH" : strerror(error), c->variable);
}

static int family_by_name(const char *name)
{
	if (strstr(name, "clang"))
		return CC_CLANG;
	return strstr(name, "gcc") || strstr(name, "g++") ? CC_GCC : UNKNOWN;
}

/* What the macros tell that come out of the pipe. */
static int family_by_macros(int fd)
{
	char line[256];
	int family = UNKNOWN;
	FILE *f = fdopen(fd, "r");

	while (f && fgets(line, sizeof line, f)) {
		if (strncmp(line, "#define __clang__ ", 18) == 0)
			family = CC_CLANG;
		else if (strncmp(line, "#define __GNUC__ ", 17) == 0 && family == UNKNOWN)
			family = CC_GCC;
	}
	if (f)
		fclose(f);
	return family;
}

static int ask(const struct cc_compiler *c)
{
	static const char *const question[PROBE_WORDS] = {"-dM", "-E", "-x", "c", "/dev/null", NULL};
	const char **argv = calloc(c->count + PROBE_WORDS, sizeof *argv);
	posix_spawn_file_actions_t actions;
	int ends[2], error, family;
	pid_t child;

	if (!argv || pipe2(ends, O_CLOEXEC) != 0)
		die(STATUS_UNFIT, "cannot ask the compiler what it is: %s", strerror(errno));
	memcpy(argv, c->words, c->count * sizeof *argv);
	memcpy(argv + c->count, question, sizeof question);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	error = posix_spawnp(&child, argv[0], &actions, NULL, (char **)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	free(argv);
	close(ends[1]);
	if (error)
		cc_compiler_missing(c, error);
	family = family_by_macros(ends[0]);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return family;
}

enum cc_family cc_compiler_family(const struct cc_compiler *c)
{
	char file[PATH_MAX];
	int family = UNKNOWN;

	if (find_file(compiler_word(c), file) && is_binary(file))
		family = family_by_name(base_name(file));
	if (family == UNKNOWN)
		family = ask(c);
	if (family == UNKNOWN)
		die(STATUS_UNFIT, "the compiler '%s' does not work, or is neither gcc nor clang; set %s to one of them",
			compiler_word(c), c->variable);
	return (enum cc_family)family;
}
