/* SPDX-License-Identifier: MIT */
#include "sharing.h"

#include "runtime/os.h"

enum {
	GRANULE_BITS = 3,
	LEAF_BITS = 24, /* of address under one leaf */
	ADDRESS_MOST = 47,
	LEAVES = 1 << (ADDRESS_MOST - LEAF_BITS),
	CELLS = 1 << (LEAF_BITS - GRANULE_BITS),
	MANY = 0xffff,   /* a cell: touched by several; 0: by none; otherwise who 12 | how often 4 */
	OFTEN_BITS = 4,
	PAGE = 4096,
	TOUCHED_MOST = 64, /* granules of one access that are looked at; of more, the first and last */
};

static uint16_t **leaves;

void sharing_start(void)
{
	leaves = os_map(LEAVES * sizeof *leaves, -1);
}

static uint16_t *cell_of(uintptr_t address, bool make)
{
	uint16_t **leaf = &leaves[address >> LEAF_BITS];

	if (!*leaf && make)
		*leaf = os_map(CELLS * sizeof **leaf, -1);
	return *leaf ? &(*leaf)[address >> GRANULE_BITS & (CELLS - 1)] : NULL;
}

_Static_assert(SHARING_FRESH < 1 << OFTEN_BITS, "so far it is counted");

static inline bool touch(uintptr_t address, struct toucher t)
{
	uint16_t *cell = cell_of(address, true);

	if (!cell || *cell == MANY)
		return true;
	if (*cell == 0)
		*cell = (uint16_t)(t.who << OFTEN_BITS);
	if (*cell >> OFTEN_BITS != t.who) {
		*cell = MANY;
		return true;
	}
	if ((*cell & ((1 << OFTEN_BITS) - 1)) == SHARING_FRESH)
		return false;
	++*cell;
	return !t.own;
}

bool sharing_touch(uintptr_t address, size_t bytes, struct toucher who)
{
	uintptr_t last = (address + bytes - 1) >> GRANULE_BITS << GRANULE_BITS;
	bool shared;

	if (!leaves || last >> ADDRESS_MOST || last < address >> GRANULE_BITS << GRANULE_BITS)
		return true;
	shared = touch(address, who);
	if (last == address >> GRANULE_BITS << GRANULE_BITS)
		return shared;
	for (unsigned n = 1; n < TOUCHED_MOST && address + ((uintptr_t)n << GRANULE_BITS) < last; n++)
		shared |= touch(address + ((uintptr_t)n << GRANULE_BITS), who);
	return touch(last, who) || shared;
}

/* The barrier keeps the compiler from calling memset. */
static void clear(uint16_t *from, uint16_t *to)
{
	for (; from < to; from++) {
		*from = 0;
		__asm__ volatile("" : : : "memory");
	}
}

static void forget_in_leaf(uint16_t *from, uint16_t *to)
{
	uintptr_t first = ((uintptr_t)from + PAGE - 1) & ~(uintptr_t)(PAGE - 1), end = (uintptr_t)to & ~(uintptr_t)(PAGE - 1);

	if (first >= end) {
		clear(from, to);
		return;
	}
	clear(from, (uint16_t *)first);
	os_discard((void *)first, end - first);
	clear((uint16_t *)end, to);
}

void sharing_forget(uintptr_t address, size_t bytes)
{
	uintptr_t end = address + bytes;

	if (!leaves || !bytes || end >> ADDRESS_MOST || end < address)
		return;
	while (address < end) {
		uintptr_t next = ((address >> LEAF_BITS) + 1) << LEAF_BITS, stop = next < end ? next : end;
		uint16_t *cell = cell_of(address, false);

		if (cell)
			forget_in_leaf(cell, cell + ((stop - 1) >> GRANULE_BITS) - (address >> GRANULE_BITS) + 1);
		address = stop;
	}
}
