/* SPDX-License-Identifier: MIT */
/*
 * What a compiler's command line asks for, as far as the driver has to know it.
 *
 * Response files are read, by the compilers' own rules, to know what is in them, and still passed on as they are:
 * nothing of the user's line is changed. An option that is not known here is taken to have no argument of its own,
 * which at worst makes an argument look like an input file.
 */
#ifndef FISSION_CLI_CC_ARGS_H
#define FISSION_CLI_CC_ARGS_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

struct cc_args {
	bool has_input;    /* something to compile or to link; without it the compiler only answers a question */
	bool links;        /* the linker runs */
	bool is_static;    /* -static in one of its forms */
	bool relocatable;  /* -r: the output is one more object */
	bool bare;         /* linked without the C library, unless it is named after all */
	bool compiles;     /* more than preprocessing is done */
	bool late;         /* -flto: code is made when all is linked */
	bool foreign;      /* -masm=intel: the assembler reads another language than that of our hooks */
	bool header;       /* nothing but headers, for later */
	bool has_debug;    /* the user has chosen the debug information */
	const char *clash; /* the sanitizer that is asked for and excludes ours, or NULL */
	int end;           /* where in argv flags can be added so that they come last */
};

/* Looks at argv[1] to argv[argc - 1]. Texts live in the arena or in argv. */
void cc_args_read(struct cc_args *a, int argc, char **argv, struct arena *arena);

/* The option's argument is the next word. */
bool cc_args_takes_next(const char *word);

#endif
