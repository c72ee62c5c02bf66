/* SPDX-License-Identifier: MIT */
/*
 * Replay files as regression tests: a directory with a replay file for each finding, and how to run them all, for CMake
 * (replays.cmake, to be included) and for make (replays.mk, likewise). The lists name every replay file that is there.
 */
#ifndef FISSION_CHASE_SAVE_H
#define FISSION_CHASE_SAVE_H

#include <stdbool.h>

#include "base/intern.h"

struct arena;
struct fault;

/* Makes the directory if there is none. */
bool save_open(const char *dir, struct fault *fault);

/* Writes the file of that id. */
bool save_replay(const char *dir, struct text id, struct text content, struct fault *fault);

/* Writes both lists. */
bool save_lists(const char *dir, struct arena *a, struct fault *fault);

#endif
