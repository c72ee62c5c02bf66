/* SPDX-License-Identifier: MIT */
/* What a program is, for a unit: the build ids of its file and of every library that it is linked with. */
#ifndef FISSION_SCALE_BUILDS_H
#define FISSION_SCALE_BUILDS_H

#include <stdbool.h>

#include "base/intern.h"

struct arena;
struct fault;
struct str;

/* Where execvp would find it, without symbolic links; NULL if it would not. In the arena. */
const char *scale_program(struct arena *a, const char *name);

/* Adds a field `build` for each. The loader is asked which libraries there are; nothing of the program is run. */
bool scale_put_builds(struct str *unit, const char *program, struct fault *fault);

/*
 * Whether the program here is the one that the unit is of. False with a fault (STATUS_UNFIT) that names what differs.
 */
bool scale_check_builds(struct text unit, const char *program, struct arena *a, struct fault *fault);

#endif
