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
#include "base/progress.h"

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

/* Whether the locale's characters are UTF-8, as the environment says. */
bool manner_utf8(void);

/* How progress is shown: `own` if the terminal is the tool's, and no program under test writes there. */
enum progress_form manner_progress(bool own);

/* Whether it is read by a person who watches it. */
bool manner_is_watched(int fd);

#endif
