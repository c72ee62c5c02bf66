/* SPDX-License-Identifier: MIT */
#include "intern.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"

enum { FIRST_SLOTS = 64 };

void intern_init(struct intern *in, struct arena *a)
{
	*in = (struct intern){.arena = a, .mask = FIRST_SLOTS - 1};
	in->slot = arena_alloc(a, FIRST_SLOTS * sizeof *in->slot);
	seg_init(&in->texts, a, sizeof(struct text));
}

struct text intern_text(const struct intern *in, uint32_t id)
{
	const struct text *t;

	if (id == 0 || id > in->count)
		return (struct text){"", 0};
	t = seg_hint(&in->texts, id, sizeof *t);
	return *t;
}

static inline uint64_t load(const char *p, size_t n)
{
	uint64_t word = 0;

	memcpy(&word, p, n);
	return word;
}

/* What a slot has to hold for the text, but for the id. */
static inline struct intern_slot key_of(const char *text, size_t n)
{
	struct intern_slot key = {.length = (uint32_t)n};

	if (n > 16) {
		key.first = hash_bytes(text, n);
		key.last = hash_word(key.first);
	} else if (n >= 8) {
		key.first = load(text, 8);
		key.last = load(text + n - 8, 8);
	} else if (n >= 4) {
		key.first = load(text, 4);
		key.last = load(text + n - 4, 4);
	} else if (n) {
		key.first = (uint8_t)text[0] | (uint64_t)(uint8_t)text[n / 2] << 8 |
			    (uint64_t)(uint8_t)text[n - 1] << 16;
	}
	return key;
}

static inline uint64_t hash_of(const struct intern_slot *key)
{
	return hash_pair(key->first ^ key->length, key->last);
}

static bool same_bytes(const struct intern *in, uint32_t id, const char *text, size_t n)
{
	return memcmp(intern_text(in, id).at, text, n) == 0;
}

/* The slot where the text is or belongs. */
static inline struct intern_slot *slot_of(
	const struct intern *in, const struct intern_slot *key, const char *text)
{
	struct intern_slot *s;

	for (uint64_t i = hash_of(key) & in->mask; (s = &in->slot[i])->id; i = (i + 1) & in->mask)
		if (s->first == key->first && s->last == key->last && s->length == key->length &&
			(key->length <= 16 || same_bytes(in, s->id, text, key->length)))
			break;
	return s;
}

static void rehash(struct intern *in)
{
	size_t old = in->mask + 1;
	struct intern_slot *from = in->slot;

	in->mask = old * 2 - 1;
	in->slot = arena_alloc(in->arena, old * 2 * sizeof *in->slot);
	for (size_t i = 0; i < old; i++)
		if (from[i].id)
			*slot_of(in, &from[i], intern_text(in, from[i].id).at) = from[i];
	arena_recycle(in->arena, from, old * sizeof *from);
}

static uint32_t add_new(struct intern *in, struct intern_slot *to, struct intern_slot key, const char *text)
{
	struct text *t;

	key.id = ++in->count;
	*to = key;
	t = seg_at(&in->texts, key.id, sizeof *t);
	*t = (struct text){arena_text(in->arena, text, key.length), key.length};
	if ((uint64_t)in->count * 2 > in->mask)
		rehash(in);
	return key.id;
}

uint32_t intern_add(struct intern *in, const char *text, size_t length)
{
	struct intern_slot key = key_of(text, length);
	struct intern_slot *s = slot_of(in, &key, text);

	return s->id ? s->id : add_new(in, s, key, text);
}

uint32_t intern_find(const struct intern *in, const char *text, size_t length)
{
	struct intern_slot key = key_of(text, length);

	return slot_of(in, &key, text)->id;
}
