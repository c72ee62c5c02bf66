/* SPDX-License-Identifier: MIT */
#include "map.h"

#include "base/arena.h"
#include "base/hash.h"

enum { FIRST_ENTRIES = 16 };

void map_init(struct map *m, struct arena *a)
{
	*m = (struct map){.arena = a, .mask = FIRST_ENTRIES - 1};
	m->entry = arena_alloc(a, FIRST_ENTRIES * sizeof *m->entry);
}

static struct map_entry *entry_of(const struct map *m, uint64_t key)
{
	uint64_t i = hash_word(key) & m->mask;

	while (m->entry[i].used && m->entry[i].key != key)
		i = (i + 1) & m->mask;
	return &m->entry[i];
}

void map_fetch(const struct map *m, uint64_t key)
{
	__builtin_prefetch(&m->entry[hash_word(key) & m->mask]);
}

uint32_t map_get(const struct map *m, uint64_t key)
{
	return entry_of(m, key)->value;
}

static void rehash(struct map *m)
{
	size_t old = m->mask + 1;
	struct map_entry *from = m->entry;

	m->mask = old * 2 - 1;
	m->entry = arena_alloc(m->arena, old * 2 * sizeof *from);
	for (size_t i = 0; i < old; i++)
		if (from[i].used)
			*entry_of(m, from[i].key) = from[i];
	arena_recycle(m->arena, from, old * sizeof *from);
}

uint32_t *map_put(struct map *m, uint64_t key)
{
	struct map_entry *e = entry_of(m, key);

	if (e->used)
		return &e->value;
	if (m->count * 2 > m->mask) {
		rehash(m);
		e = entry_of(m, key);
	}
	*e = (struct map_entry){.key = key, .used = 1};
	m->count++;
	return &e->value;
}
