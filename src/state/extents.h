/* SPDX-License-Identifier: MIT */
/*
 * Which allocation an address is in: for the array cut-off, which counts elements from an allocation's start.
 *
 * Representation: address space in regions of 1 MiB; each region that was touched has an array of the allocations in
 * it, by start. A larger one stands in every region that it reaches into, up to EXTENT_REGIONS_MOST of them. Invariant:
 * the starts of a region's array ascend, and no two allocations overlap: a new one ends those that it covers.
 * Cost: a map look-up and a binary search; adding and removing move what lies behind in the region.
 */
#ifndef FISSION_STATE_EXTENTS_H
#define FISSION_STATE_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/seg.h"

enum { EXTENT_REGIONS_MOST = 4096 };

struct extent {
	uint64_t start, size;
};

struct extents {
	struct arena *arena;
	struct map regions; /* address / 1 MiB to the number of its region */
	struct seg region;  /* struct extent_region */
	uint32_t count;
};

void extents_init(struct extents *x, struct arena *a);

/* An allocation of `size` bytes at `start`; what it overlaps has ended. */
void extents_add(struct extents *x, uint64_t start, uint64_t size);

/* The allocation that starts there has ended; nothing happens if there is none. */
void extents_remove(struct extents *x, uint64_t start);

/* The allocation that holds the address; false if none does. */
bool extents_find(struct extents *x, uint64_t address, struct extent *found);

#endif
