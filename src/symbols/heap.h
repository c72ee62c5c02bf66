/* SPDX-License-Identifier: MIT */
/*
 * Who made the memory at an address, now and before: a name for memory from the heap begins with its allocation.
 *
 * Representation: a map from where an allocation starts, in units of 16 bytes as allocators align, to the newest of
 * its lives; older ones hang behind, at most LIVES of them. Lives that follow each other and are alike (place, call
 * stack and bytes) are one, with the time of the first and of the last. Nothing is told of frees: memory that is free is not
 * used, and what is made of it is told again. Allocations of 64 KiB and more are listed as well.
 * The last ones wait in a queue: where an allocation starts is told to the processor when it comes, where its newest life
 * is a few allocations later, and both are looked at when they are near. Questions look at what waits first.
 * Cost: a map look-up an allocation. A question looks at every start before the address as far as the widest small
 * allocation reaches, and at all large ones: questions are for findings, and those are few.
 */
#ifndef FISSION_SYMBOLS_HEAP_H
#define FISSION_SYMBOLS_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/seg.h"
#include "event/event.h"

struct life {
	uint64_t start, bytes;
	uint64_t first, last; /* seq of the first and the last alike */
	site_id site;
	stack_id stack;
	code_id code;   /* the function that the site is in, where there is no stack to say it; 0: not known */
	uint32_t older; /* number of the one before at this start, or 0 */
	uint32_t length; /* of the chain, with this */
};

enum { HEAP_NEW = 8 }; /* that wait */

struct heap {
	struct map starts; /* start / 16 to the number of its newest life */
	struct seg lives;  /* struct life, from 1 */
	uint32_t count;
	uint64_t widest;   /* bytes of the largest small one */
	uint64_t *large;   /* starts / 16 of large ones, each once */
	size_t large_count, large_capacity;
	struct map large_known; /* start / 16 of these: 1 */
	struct life fresh[HEAP_NEW]; /* by number */
	uint64_t added, settled;     /* so many were told; of them, so many wait no longer */
	struct arena *arena;
};

void heap_init(struct heap *h, struct arena *a);

/* `life` has start, bytes, site, stack, code, and the time in `last`. */
void heap_add(struct heap *h, struct life life);

/* What held the address at that time. False if nothing is known to, or if that cannot be told. */
bool heap_find(struct heap *h, uint64_t address, uint64_t seq, struct life *found);

#endif
