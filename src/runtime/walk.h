/* SPDX-License-Identifier: MIT */
/*
 * Writes the walk (event/walk.h) of a program that was built with --symbolic, in a controlled run, if FISSION_WALK
 * names a file for it. The tool makes the file as long as it may become; the first process that comes takes it.
 *
 * A record is reserved by one instruction and complete when its kind is there, so a signal handler's records come
 * behind those that it interrupts, and a killed program leaves what it has completed. When the file is full the walk
 * ends with WALK_FULL, and the program goes on as if there were none.
 *
 * Records about concrete values are many, and nobody wants the millionth of them: each site has WALK_SITE_MOST. Records
 * with an expression are always written.
 */
#ifndef FISSION_RUNTIME_WALK_H
#define FISSION_RUNTIME_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "event/walk.h"

enum { WALK_SITE_MOST = 1000 };

/* A walk is written. Code from the rewriter asks before all else; it becomes true once at most, before main(). */
extern bool __fission_walk_on __attribute__((visibility("default")));
#define walk_on __builtin_expect(__fission_walk_on, 0)

/* The process begins, in a controlled run. */
void walk_start(void);
/* A forked child: the file is its parent's. */
void walk_forked(void);

/* Adds a record, whose thread is the calling one. */
void walk_put(struct walk_record r);
/* The same if its site has not had its share. */
void walk_put_some(struct walk_record r);

/* What an entry of the ring tells. */
struct sync;
void walk_event(const struct sync *y);

/* Where code is: the number of its unit above the ordinal of its instruction. */
static inline uint32_t site_unit(uint64_t site)
{
	return (uint32_t)(site >> 32);
}

/* The number of the unit with that hash, above 32 bits that are 0. */
uint64_t walk_unit(uint64_t hash);

#endif
