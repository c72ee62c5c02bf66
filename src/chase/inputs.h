/* SPDX-License-Identifier: MIT */
/*
 * The inputs of an execution: what the program is given, and what may be changed to make it go another way. Part of each
 * execution and of replay files.
 */
#ifndef FISSION_CHASE_INPUTS_H
#define FISSION_CHASE_INPUTS_H

#include <stddef.h>

#include "base/intern.h"

/* Something that has a name: a variable of the environment, a file by its path, a fission_input(). */
struct inputs_named {
	struct text name, value;
};

struct inputs_list {
	struct inputs_named *at;
	size_t count;
};

struct inputs {
	char **argv;       /* ends with NULL; argv[0] is the program, and never changed */
	struct text stdin_bytes;
	struct inputs_list env;   /* variables set on top of the tool's own environment */
	struct inputs_list file;  /* files whose contents are replaced: what is opened by that path reads this */
	struct inputs_list named; /* fission_input() by name */
};

#endif
