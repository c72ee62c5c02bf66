/* SPDX-License-Identifier: MIT */
/* Whether a program is the one that a replay is of: told by its file's name and its build id, before it is run. */
#ifndef FISSION_CHASE_BUILDS_H
#define FISSION_CHASE_BUILDS_H

#include "base/intern.h"

struct arena;
struct replay;

enum build_match {
	BUILD_SAME,
	BUILD_OTHER,   /* of the same name, and another build id */
	BUILD_FOREIGN, /* the replay knows no module of that name */
	BUILD_UNKNOWN, /* there is no such file, or it has no build id: only running it can tell */
};

/* The program as the system would find it: by its path, or in PATH. `id` is told its build id, perhaps empty. */
enum build_match builds_match(const struct replay *r, const char *program, struct arena *a, struct text *id);

#endif
