/* SPDX-License-Identifier: MIT */
/*
 * Which memory threads may meet at: for each 8 bytes who has touched it, and how often if that was one alone. Memory
 * that one thread has touched SHARING_FRESH times, and nobody else has, is taken to be its own until another comes.
 * The first few count as shared because a thread may come by only once or twice, and is to be split there. Two levels, of which the lower is mapped
 * when it is first needed and costs only what is touched. Touched by whoever has the turn, and exact: what is shared
 * must not depend on where things lie.
 */
#ifndef FISSION_RUNTIME_SHARING_H
#define FISSION_RUNTIME_SHARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Once. Without memory for it everything counts as shared. */
void sharing_start(void);

enum { SHARING_FRESH = 8 };

/* A thread, from 1, touches it; `own`, if it lies in its stack: that is its own until another comes. */
struct toucher {
	uint16_t who;
	bool own;
};

/* Whether threads may meet there: see above. */
bool sharing_touch(uintptr_t address, size_t bytes, struct toucher t);

void sharing_forget(uintptr_t address, size_t bytes);

#endif
