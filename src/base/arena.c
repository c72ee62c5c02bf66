/* SPDX-License-Identifier: MIT */
#include "arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include "base/os/memory.h"

enum { SMALLEST = 16, CHUNK_FIRST = 1 << 14, CHUNK_MOST = 1 << 22, LARGE = 1 << 18 };

struct arena_chunk {
	alignas(64) struct arena_chunk *older;
	size_t bytes;
};

static unsigned class_of(size_t bytes)
{
	if (bytes <= SMALLEST)
		return 4;
	return 64 - (unsigned)__builtin_clzll(bytes - 1);
}

void arena_init(struct arena *a)
{
	*a = (struct arena){.more = memory_map, .less = memory_unmap};
}

void arena_free(struct arena *a)
{
	struct arena_chunk *c, *older;

	for (c = a->chunks; c; c = older) {
		older = c->older;
		a->less(c, c->bytes);
	}
	*a = (struct arena){.more = a->more, .less = a->less};
}

static struct arena_chunk *chunk_new(struct arena *a, size_t bytes)
{
	struct arena_chunk *c = a->more(bytes);

	c->older = a->chunks;
	c->bytes = bytes;
	a->chunks = c;
	a->bytes += bytes;
	return c;
}

/* Chunks grow with the arena, so that a tiny run stays tiny and a large one makes few calls. */
static void chunk_open(struct arena *a, size_t need)
{
	size_t bytes = a->bytes < CHUNK_FIRST ? CHUNK_FIRST : a->bytes;
	struct arena_chunk *c;

	if (bytes > CHUNK_MOST)
		bytes = CHUNK_MOST;
	while (bytes < need + sizeof *c + 64)
		bytes *= 2;
	c = chunk_new(a, bytes);
	a->next = (char *)(c + 1);
	a->limit = (char *)c + bytes;
}

static void *cut(struct arena *a, size_t bytes)
{
	size_t align = bytes < 64 ? 16 : 64;
	uintptr_t at = ((uintptr_t)a->next + align - 1) & ~(uintptr_t)(align - 1);

	if (!a->next || at + bytes > (uintptr_t)a->limit) {
		chunk_open(a, bytes);
		at = ((uintptr_t)a->next + align - 1) & ~(uintptr_t)(align - 1);
	}
	a->next = (char *)(at + bytes);
	return (void *)at;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
	unsigned c = class_of(bytes);
	size_t size = (size_t)1 << c;
	void *p = a->recycled[c];

	if (p) {
		memcpy(&a->recycled[c], p, sizeof p);
		return memset(p, 0, size);
	}
	if (size >= LARGE)
		return chunk_new(a, size + sizeof(struct arena_chunk)) + 1;
	return cut(a, size);
}

void arena_recycle(struct arena *a, void *block, size_t bytes)
{
	unsigned c = class_of(bytes);

	if (!block)
		return;
	memcpy(block, &a->recycled[c], sizeof block);
	a->recycled[c] = block;
}

void *arena_grow(struct arena *a, void *old, size_t old_bytes, size_t new_bytes)
{
	void *p;

	if (old && class_of(old_bytes) == class_of(new_bytes))
		return old;
	p = arena_alloc(a, new_bytes);
	if (old) {
		memcpy(p, old, old_bytes < new_bytes ? old_bytes : new_bytes);
		arena_recycle(a, old, old_bytes);
	}
	return p;
}

char *arena_text(struct arena *a, const char *text, size_t length)
{
	char *p = arena_alloc(a, length + 1);

	memcpy(p, text, length);
	return p;
}

void *arena_reserve_more(struct arena *a, void *array, size_t *capacity, size_t count, size_t element)
{
	size_t want = *capacity ? *capacity : 4;

	while (want <= count)
		want *= 2;
	array = arena_grow(a, array, *capacity * element, want * element);
	*capacity = want;
	return array;
}
