/* SPDX-License-Identifier: MIT */
/*
 * fission cc --symbolic: a C source goes through bitcode, where fission-rewrite adds hooks and shadows.
 *
 *	clang-14   source -> bitcode, as the front end makes it, with everything the user has said
 *	rewrite    bitcode -> bitcode; see src/symbolic/rewrite.h
 *	clang-14   bitcode -> object, optimised as the user wants it
 *
 * Then, if the line links, it is run as without --symbolic, with the objects in place of the sources. What is not C
 * (C++, assembler, libraries) goes through the line as it is.
 */
#ifndef FISSION_CLI_CC_SYMBOLIC_H
#define FISSION_CLI_CC_SYMBOLIC_H

#include <stdbool.h>

struct arena;

/* A command's words. */
struct cc_symbolic {
	int argc;
	char **argv;  /* the line without its C sources that were compiled, with their objects */
	bool is_done; /* nothing is left to do: all was compiled, and nothing is to be linked */
	int status;   /* of the first step that failed; 0: none */
};

/* Compiles what there is of C. The caller runs the rest, then takes the temporary files away. */
void cc_symbolic_compile(struct cc_symbolic *s, int argc, char **argv, struct arena *arena);
void cc_symbolic_clean(void);

/* Runs a command and waits for it: its status as a shell has it. Ends the tool if it cannot be run. */
int cc_symbolic_run(const char *const *words);

#endif
