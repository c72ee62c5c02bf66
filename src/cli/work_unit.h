/* SPDX-License-Identifier: MIT */
/* The kinds of units: what is done for each, in a process of its own. */
#ifndef FISSION_CLI_WORK_UNIT_H
#define FISSION_CLI_WORK_UNIT_H

#include <stdbool.h>

#include "scale/unit.h"

struct arena;
struct depot;
struct fault;

struct work_unit {
	struct unit unit;
	struct arena *arena;
	const struct depot *depot; /* that has its files */
	struct text trace;         /* the address of its trace, if it has one */
	const char *program;       /* of an execution, where it is */
};

/* Before the process is started: are its files here, and is the program the right one? False with a fault. */
bool work_prepare(struct work_unit *u, struct fault *fault);

/* `check` and `predict`: becomes that command. Returns if that cannot be. */
int work_trace(struct work_unit *u);

/* `execute`: writes a lesson to standard output. */
int work_execution(struct work_unit *u);

#endif
