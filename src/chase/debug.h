/* SPDX-License-Identifier: MIT */
/*
 * A replay under gdb: the program is driven to the violation and stopped (SIGTRAP) right before the culprit.
 *
 * The way there is by the three operations of the replay as milestones, and not by the order step by step: a debugger
 * may stop the program anywhere, and it still arrives. Of a replay without them, a crash or a deadlock, the order is kept.
 */
#ifndef FISSION_CHASE_DEBUG_H
#define FISSION_CHASE_DEBUG_H

#include <stdbool.h>

struct arena;
struct fault;
struct replay;

/* Gives the terminal to gdb. `status` is told its exit status. False with a fault if it could not be started. */
bool debug_replay(const struct replay *r, struct arena *a, int *status, struct fault *fault);

#endif
