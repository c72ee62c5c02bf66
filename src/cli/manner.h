/* SPDX-License-Identifier: MIT */
/*
 * How the tool speaks: the options that every command has.
 *
 * Colour is used on a terminal, unless NO_COLOR is set to anything or TERM is "dumb"; --color overrules all of that.
 * --quiet leaves out what is neither a finding nor an error; --verbose adds what is worth knowing beside them.
 */
#ifndef FISSION_CLI_MANNER_H
#define FISSION_CLI_MANNER_H

#include <stdbool.h>

#include "base/opts.h"

struct manner {
	const char *colour; /* "auto", "always", "never" */
	bool quiet, verbose, help;
};

/* That of this process: a command sets it by its options, before anything is said. */
extern struct manner manner;

/* The common options, under their heading. */
extern const struct opt manner_options[];

/* Whether what is written to the descriptor is to be coloured. */
bool manner_colours(int fd);

/* Whether it is read by a person who watches it. */
bool manner_is_watched(int fd);

#endif
