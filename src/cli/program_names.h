/* SPDX-License-Identifier: MIT */
/*
 * Names of a trace as C identifiers: the name itself wherever that can be, so that whoever looks at the program,
 * at its symbols or at a report about it meets the trace's own words.
 *
 * One space of names for everything at file scope. A name that C, the headers or the program's own text have
 * already gets a number: `read_2`. Bytes that cannot stand in an identifier become underscores.
 */
#ifndef FISSION_CLI_PROGRAM_NAMES_H
#define FISSION_CLI_PROGRAM_NAMES_H

#include "base/intern.h"

struct arena;

struct names {
	struct arena *arena;
	struct intern used;
};

/* Reserves every identifier that the C text `program` declares at file scope. */
void names_init(struct names *n, struct arena *a, const char *program);

/* A new identifier: the prefix and the name, changed as little as possible. Owned by the arena. */
const char *names_pick(struct names *n, const char *prefix, struct text name);

#endif
