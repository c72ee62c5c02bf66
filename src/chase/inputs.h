/* SPDX-License-Identifier: MIT */
/*
 * The inputs of an execution: what the program is given, and what may be changed to make it go another way. Part of
 * each execution and of replay files.
 *
 * Arguments and standard input are handed over as they are; the rest goes by the environment: variables as themselves,
 * files and names through a file that the library inside the program reads (struct walk_given). Replaced files have no
 * names on disk: they are files of the tool's own, which the program opens by way of /proc.
 */
#ifndef FISSION_CHASE_INPUTS_H
#define FISSION_CHASE_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"

struct arena;
struct fault;
struct str;

/* Something that has a name. */
struct inputs_named {
	struct text name, value;
};

struct inputs_list {
	struct inputs_named *at;
	size_t count;
};

enum inputs_kind {
	INPUTS_ENV,   /* variables set on top of the tool's own environment */
	INPUTS_FILE,  /* files whose contents are replaced: what is opened by that path reads this */
	INPUTS_NAMED, /* fission_input() by name */
	INPUTS_KINDS
};

/* What there is besides arguments and standard input. */
struct inputs_more {
	struct inputs_list of[INPUTS_KINDS];
};

struct inputs {
	char **argv; /* ends with NULL; argv[0] is the program, and never changed */
	struct text stdin_bytes;
	struct inputs_more more;
};

/* The value of that name; one without text if there is none. */
struct text inputs_find(const struct inputs_more *m, enum inputs_kind kind, struct text name);

/* Sets it, in a list of the arena's. The texts are not copied. */
void inputs_set(struct inputs_more *m, enum inputs_kind kind, struct inputs_named n, struct arena *a);

/* A copy that can be changed; the texts are shared. */
struct inputs *inputs_copy(const struct inputs *in, struct arena *a);

uint64_t inputs_hash(const struct inputs *in);

/*
 * As a person would type them, where that is possible: the command line, with its variables in front and standard input
 * behind <<<, which adds a newline. Files and names stand behind it in words.
 */
void inputs_tell(const struct inputs *in, struct str *to);

/* A word for a shell: as it is, in quotes, or in bash's $'' if it has bytes that nobody can type. */
void inputs_word(struct str *to, struct text word);

/* Names with their values, and files with the paths of others, as the library reads them (struct walk_given). */
struct text inputs_given(const struct inputs_list *named, const struct inputs_list *file, struct arena *a);

/*
 * Writes them into a directory, which is made, for people: the script run.sh starts the program with them, without
 * Fission; beside it stand standard input and the files that are replaced. False with a fault.
 */
bool inputs_write(const struct inputs *in, const char *dir, struct arena *a, struct fault *fault);

/* What is on its way to one execution. */
struct inputs_way {
	char **env;  /* "NAME=value", ends with NULL */
	int *fd;     /* files that stay open as long as it lasts */
	size_t fds;
};

/* False with a fault if the system has no room. Then, and afterwards, inputs_done(). `m` may be NULL. */
bool inputs_ready(struct inputs_way *w, const struct inputs_more *m, struct arena *a, struct fault *fault);
void inputs_done(struct inputs_way *w);

/* One more variable for the program. */
void inputs_variable(struct inputs_way *w, const char *name, const char *value, struct arena *a);

#endif
