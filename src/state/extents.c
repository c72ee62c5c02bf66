/* SPDX-License-Identifier: MIT */
#include "extents.h"

#include <string.h>

#include "base/arena.h"

enum { REGION_BITS = 20 };

struct extent_region {
	struct extent *at; /* by start */
	size_t count, capacity;
};

void extents_init(struct extents *x, struct arena *a)
{
	x->arena = a;
	x->count = 0;
	map_init(&x->regions, a);
	seg_init(&x->region, a, sizeof(struct extent_region));
}

/* The region of an address, or NULL if nothing was ever in it. */
static struct extent_region *region_of(struct extents *x, uint64_t number)
{
	uint32_t i = map_get(&x->regions, number);

	return i ? seg_at(&x->region, i, sizeof(struct extent_region)) : NULL;
}

static struct extent_region *region_make(struct extents *x, uint64_t number)
{
	uint32_t *i = map_put(&x->regions, number);

	if (!*i)
		*i = ++x->count;
	return seg_at(&x->region, *i, sizeof(struct extent_region));
}

/* How many of the region's allocations start at or before the address. */
static size_t started_by(const struct extent_region *r, uint64_t address)
{
	size_t low = 0, high = r->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (r->at[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool extents_find(struct extents *x, uint64_t address, struct extent *found)
{
	const struct extent_region *r = region_of(x, address >> REGION_BITS);
	size_t i = r ? started_by(r, address) : 0;

	if (!i || address - r->at[i - 1].start >= r->at[i - 1].size)
		return false;
	*found = r->at[i - 1];
	return true;
}

static void drop(struct extent_region *r, size_t i)
{
	r->count--;
	memmove(&r->at[i], &r->at[i + 1], (r->count - i) * sizeof *r->at);
}

/* The last region that the extent is entered in; an extent that wraps around ends with the address space. */
static uint64_t last_region(struct extent e)
{
	uint64_t first = e.start >> REGION_BITS, end = e.start + (e.size - 1);
	uint64_t last = (end < e.start ? UINT64_MAX : end) >> REGION_BITS;

	return last - first < EXTENT_REGIONS_MOST ? last : first + EXTENT_REGIONS_MOST - 1;
}

static void extent_end(struct extents *x, struct extent e)
{
	for (uint64_t n = e.start >> REGION_BITS; n <= last_region(e); n++) {
		struct extent_region *r = region_of(x, n);
		size_t i = r ? started_by(r, e.start) : 0;

		if (i && r->at[i - 1].start == e.start)
			drop(r, i - 1);
	}
}

void extents_remove(struct extents *x, uint64_t start)
{
	struct extent e;

	if (extents_find(x, start, &e) && e.start == start)
		extent_end(x, e);
}

/* Ends what reaches into the new one: the allocation that holds its start, and those that start within it. */
static void make_room(struct extents *x, struct extent e)
{
	struct extent other;

	if (extents_find(x, e.start, &other))
		extent_end(x, other);
	for (uint64_t n = e.start >> REGION_BITS; n <= last_region(e); n++) {
		struct extent_region *r = region_of(x, n);

		while (r) {
			size_t i = started_by(r, e.start);

			if (i == r->count || r->at[i].start - e.start >= e.size)
				break;
			extent_end(x, r->at[i]);
		}
	}
}

void extents_add(struct extents *x, uint64_t start, uint64_t size)
{
	struct extent e = {start, size};

	if (!size)
		return;
	make_room(x, e);
	for (uint64_t n = start >> REGION_BITS; n <= last_region(e); n++) {
		struct extent_region *r = region_make(x, n);
		size_t i = started_by(r, start);

		r->at = arena_reserve(x->arena, r->at, &r->capacity, r->count, sizeof *r->at);
		memmove(&r->at[i + 1], &r->at[i], (r->count - i) * sizeof *r->at);
		r->at[i] = e;
		r->count++;
	}
}
