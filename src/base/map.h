/* SPDX-License-Identifier: MIT */
/*
 * Numbers to small numbers: uint64_t keys, uint32_t values, value 0 means absent.
 *
 * Representation: open addressing, linear probing, at most half full; nothing is ever removed (a value may be
 * set to 0 and stays a tombstone that its key reuses). Cost: one mix and nearly always one probe.
 */
#ifndef FISSION_BASE_MAP_H
#define FISSION_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct arena;

struct map_entry {
	uint64_t key;
	uint32_t value;
	uint32_t used;
};

struct map {
	struct arena *arena;
	struct map_entry *entry;
	uint64_t mask;
	uint64_t count;
};

void map_init(struct map *m, struct arena *a);

/* Brings in where the key is. */
void map_fetch(const struct map *m, uint64_t key);

/* The value of the key, or 0. */
uint32_t map_get(const struct map *m, uint64_t key);

/* The place of the key's value, made with 0 in it if need be; valid until the next new key. */
uint32_t *map_put(struct map *m, uint64_t key);

#endif
