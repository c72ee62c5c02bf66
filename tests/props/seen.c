/* SPDX-License-Identifier: MIT */
#include "seen.h"

#include <stdlib.h>
#include <string.h>

static uint64_t *table_new(size_t slots, size_t words)
{
	uint64_t *slot = calloc(slots * words, sizeof *slot);

	if (!slot)
		abort();
	return slot;
}

void seen_init(struct seen *s, size_t words, size_t most)
{
	*s = (struct seen){.words = words, .mask = 255, .most = most};
	s->slot = table_new(s->mask + 1, words);
}

void seen_free(struct seen *s)
{
	free(s->slot);
}

static size_t hash(const struct seen *s, const uint64_t *key)
{
	uint64_t h = 0;

	for (size_t i = 0; i < s->words; i++) {
		h = (h ^ key[i]) * 0x9E3779B97F4A7C15u;
		h ^= h >> 29;
	}
	return (size_t)h;
}

/* The key's slot, or the free one where it would go. */
static uint64_t *slot_of(const struct seen *s, const uint64_t *key)
{
	for (size_t i = hash(s, key);; i++) {
		uint64_t *at = &s->slot[(i & s->mask) * s->words];

		if (!at[0] || memcmp(at, key, s->words * sizeof *key) == 0)
			return at;
	}
}

static void grow(struct seen *s)
{
	struct seen old = *s;

	s->mask = old.mask * 4 + 3;
	s->slot = table_new(s->mask + 1, s->words);
	for (size_t i = 0; i <= old.mask; i++) {
		const uint64_t *key = &old.slot[i * s->words];

		if (key[0])
			memcpy(slot_of(s, key), key, s->words * sizeof *key);
	}
	seen_free(&old);
}

bool seen_add(struct seen *s, const uint64_t *key)
{
	uint64_t *at = slot_of(s, key);

	if (at[0])
		return false;
	if (s->count == s->most) {
		s->full = true;
		return false;
	}
	memcpy(at, key, s->words * sizeof *key);
	if (2 * ++s->count > s->mask)
		grow(s);
	return true;
}
