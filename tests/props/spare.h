/* SPDX-License-Identifier: MIT */
/* Arenas for very many very short runs: chunks are kept for the next, mapping them anew would take most of the time. */
#ifndef FISSION_TESTS_PROPS_SPARE_H
#define FISSION_TESTS_PROPS_SPARE_H

#include <string.h>

#include "base/arena.h"
#include "base/os/memory.h"

static struct {
	void *at;
	size_t bytes;
} spare[16];

static void *spare_take(size_t bytes)
{
	for (size_t i = 0; i < sizeof spare / sizeof *spare; i++)
		if (spare[i].bytes == bytes) {
			spare[i].bytes = 0;
			return memset(spare[i].at, 0, bytes);
		}
	return memory_map(bytes);
}

static void spare_give(void *p, size_t bytes)
{
	for (size_t i = 0; i < sizeof spare / sizeof *spare; i++)
		if (spare[i].bytes == 0) {
			spare[i].at = p;
			spare[i].bytes = bytes;
			return;
		}
	memory_unmap(p, bytes);
}

/* An arena as arena_init() makes it; arena_free() ends it. */
static inline void spare_arena(struct arena *a)
{
	*a = (struct arena){.more = spare_take, .less = spare_give};
}

#endif
