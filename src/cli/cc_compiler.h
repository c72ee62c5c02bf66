/* SPDX-License-Identifier: MIT */
/*
 * The compiler behind the driver: which command it is, and whether it is a gcc or a clang.
 *
 * The name tells in most cases: that of the program that all symbolic links lead to ("cc" leads to
 * "x86_64-linux-gnu-gcc-12"), behind a ccache or distcc in front of it. A script may do anything, and a ccache under a
 * compiler's name too: then the compiler is asked for the macros it defines, which costs a start of it.
 */
#ifndef FISSION_CLI_CC_COMPILER_H
#define FISSION_CLI_CC_COMPILER_H

#include <stddef.h>

struct arena;

enum cc_family { CC_GCC, CC_CLANG };

struct cc_compiler {
	const char *variable; /* of the environment, that chooses it */
	const char **words;   /* the command */
	size_t count;
};

/* The command from the environment, or the default. Ends the tool if it would be the driver itself. */
void cc_compiler_choose(struct cc_compiler *c, const char *variable, const char *fallback, struct arena *arena);

/* Ends the tool with STATUS_UNFIT if the compiler cannot be run, or is neither. */
enum cc_family cc_compiler_family(const struct cc_compiler *c);

/* Ends the tool with STATUS_UNFIT: the command could not be run, for the reason of errno. */
_Noreturn void cc_compiler_missing(const struct cc_compiler *c, int error);

#endif
