/* SPDX-License-Identifier: MIT */
/*
 * What the driver adds to a compiler's command line, and where it finds what it adds.
 *
 * One directory has it all: the header, the library and what stands in for the compiler's own runtime. It is "driver"
 * beside the tool as it is built, and ../lib/fission as installed.
 */
#ifndef FISSION_CLI_CC_FLAGS_H
#define FISSION_CLI_CC_FLAGS_H

#include <stddef.h>

#include "cli/cc_compiler.h"

struct arena;
struct cc_args;

/* A command under construction; NULL at its end. */
struct cc_line {
	struct arena *arena;
	const char **words;
	size_t count, capacity;
};

void cc_line_add(struct cc_line *line, const char *word);

/* The directory, in the arena. Ends the tool with STATUS_UNFIT if there is none. */
const char *cc_flags_directory(struct arena *arena);

/* What stands before the user's flags, which may then overrule it; and the libraries, which programs find first. */
void cc_flags_front(struct cc_line *line, enum cc_family family, const struct cc_args *a, const char *directory);

/* What stands behind them, and so holds. */
void cc_flags_back(struct cc_line *line, enum cc_family family, const struct cc_args *a, const char *directory);

#endif
