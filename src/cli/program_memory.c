/* SPDX-License-Identifier: MIT */
#include "program_memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum {
	ALLOC_MOST = 1 << 30,
	PAGES_MOST = 1 << 18,  /* the array has at most as many bytes as an allocation */
	FOLLOW_MOST = 1 << 12, /* larger accesses are not followed byte by byte */
	NATURAL = 8,           /* the size of a variable that the trace gives none for */
};

void memory_init(struct memory *m, struct arena *a)
{
	*m = (struct memory){.arena = a, .store_count = 1};
	seg_init(&m->stores, a, sizeof(struct store));
	seg_init(&m->newest, a, sizeof(uint32_t));
	seg_init(&m->cells, a, sizeof(struct cell));
	map_init(&m->allocated, a);
	map_init(&m->pages, a);
	map_init(&m->cell_ids, a);
}

static bool has_type(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static bool is_atomic(const struct event *e)
{
	return e->kind >= EVENT_ATOMIC_LOAD && e->kind <= EVENT_ATOMIC_RMW;
}

static uint32_t *newest(struct memory *m, uint64_t object)
{
	return seg_at(&m->newest, object, sizeof(uint32_t));
}

static uint32_t store_new(struct memory *m, struct store s)
{
	uint32_t number = m->store_count++;

	if (s.kind == STORE_BLOCK)
		s.number = ++m->blocks;
	else
		m->globals++;
	*memory_store(m, number) = s;
	return number;
}

/* The index of the first segment that ends at or behind the address. */
static size_t segment_at(const struct memory *m, uint64_t address)
{
	size_t low = 0, high = m->segment_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (m->segments[middle].last < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void segment_insert(struct memory *m, size_t at, struct segment s)
{
	m->segments = arena_reserve(m->arena, m->segments, &m->segment_capacity, m->segment_count, sizeof s);
	memmove(m->segments + at + 1, m->segments + at, (m->segment_count - at) * sizeof s);
	m->segments[at] = s;
	m->segment_count++;
}

/* Cuts [first, last] out of the segments; returns where a segment for it belongs. */
static size_t segments_clear(struct memory *m, uint64_t first, uint64_t last)
{
	size_t from = segment_at(m, first), to = from;

	if (from < m->segment_count && m->segments[from].first < first) {
		struct segment front = m->segments[from];

		front.last = first - 1;
		m->segments[from].first = first;
		segment_insert(m, from++, front);
		to = from;
	}
	while (to < m->segment_count && m->segments[to].last <= last)
		to++;
	if (to < m->segment_count && m->segments[to].first <= last)
		m->segments[to].first = last + 1;
	if (to > from)
		memmove(m->segments + from, m->segments + to, (m->segment_count - to) * sizeof *m->segments);
	m->segment_count -= to - from;
	return from;
}

static const char *touch_pages(struct memory *m, uint64_t first, uint64_t last)
{
	m->array_used = true;
	for (uint64_t page = first / PAGE_BYTES; page <= last / PAGE_BYTES; page++) {
		map_put(&m->pages, page);
		if (m->pages.count > PAGES_MOST)
			return "the addresses are on too many pages for a program to have";
	}
	return NULL;
}

static const char *addressed_access(struct memory *m, const struct event *e, struct spot *to)
{
	uint64_t first = e->object, last = first + to->size - 1;
	size_t i = segment_at(m, first);

	if (last < first)
		return "the access runs over the end of the address space";
	to->offset = first;
	if (i == m->segment_count || m->segments[i].first > last)
		return touch_pages(m, first, last);
	if (m->segments[i].first > first || m->segments[i].last < last)
		return "the access is partly inside and partly outside of an allocation";
	to->store = m->segments[i].store;
	to->offset = first - memory_store(m, to->store)->object;
	return NULL;
}

static void named_access(struct memory *m, const struct event *e, struct spot *to)
{
	uint32_t *store = newest(m, e->object);

	if (!*store)
		*store = store_new(m, (struct store){.kind = STORE_GLOBAL, .object = e->object});
	to->store = *store;
}

const char *memory_access(struct memory *m, const struct event *e, struct spot *to)
{
	const char *why = NULL;
	struct store *s;

	to->size = e->flags & EVENT_SIZED ? e->size : e->flags & EVENT_ADDRESSED ? 1 : 0;
	if (is_atomic(e) && to->size && !has_type(to->size))
		return "C has atomic operations on 1, 2, 4 and 8 bytes only";
	if (is_atomic(e) && (e->flags & EVENT_ADDRESSED) && e->object % to->size)
		return "an atomic operation needs an address that is a multiple of its size";
	if (e->flags & EVENT_ADDRESSED)
		why = addressed_access(m, e, to);
	else
		named_access(m, e, to);
	if (why)
		return why;
	s = memory_store(m, to->store);
	s->last_use = (uint32_t)e->seq;
	if (to->size > s->widest)
		s->widest = to->size;
	return NULL;
}

const char *memory_alloc(struct memory *m, const struct event *e, struct spot *to)
{
	struct store s = {.kind = STORE_BLOCK, .bytes = e->count};
	uint64_t first = e->object, last = first + e->count - 1;

	if (e->count > ALLOC_MOST)
		return "the allocation is too large to be made";
	if (!(e->flags & EVENT_ADDRESSED)) {
		to->store = *newest(m, e->object) = store_new(m, s);
		return NULL;
	}
	if (e->count && last < first)
		return "the allocation runs over the end of the address space";
	s.object = first;
	to->store = *map_put(&m->allocated, first) = store_new(m, s);
	if (e->count)
		segment_insert(m, segments_clear(m, first, last), (struct segment){first, last, to->store});
	return NULL;
}

void memory_free(struct memory *m, const struct event *e, struct spot *to)
{
	uint32_t number = e->flags & EVENT_ADDRESSED ? map_get(&m->allocated, e->object) : *newest(m, e->object);
	struct store *s = memory_store(m, number);

	if (s->kind != STORE_BLOCK || s->freed)
		return;
	to->store = number;
	s->freed = (uint32_t)e->seq;
}

bool memory_is_freed(const struct store *s, uint32_t step)
{
	return s->kind == STORE_BLOCK && s->freed == step && s->last_use < step;
}

static int compare_pages(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void memory_layout(struct memory *m)
{
	uint64_t *page = arena_alloc(m->arena, (m->pages.count + 1) * sizeof *page);
	size_t n = 0;

	for (uint64_t i = 0; i <= m->pages.mask; i++)
		if (m->pages.entry[i].used)
			page[n++] = m->pages.entry[i].key;
	qsort(page, n, sizeof *page, compare_pages);
	for (size_t i = 0; i < n; i++)
		*map_put(&m->pages, page[i]) = (uint32_t)i + 1;
}

uint64_t memory_array_bytes(const struct memory *m)
{
	return m->pages.count * PAGE_BYTES;
}

/* What an access without a size touches of a variable: as much as C has a type for. */
static uint32_t natural_size(uint32_t widest)
{
	uint32_t size = NATURAL;

	while (widest && size > widest)
		size /= 2;
	return size;
}

void memory_settle(struct memory *m, struct spot *to)
{
	struct store *s = memory_store(m, to->store);
	uint32_t wide = s->kind == STORE_ARRAY || s->widest ? s->widest : natural_size(0);

	if (!to->size)
		to->size = natural_size(s->widest);
	if (s->kind == STORE_ARRAY)
		to->offset = (map_get(&m->pages, to->offset / PAGE_BYTES) - UINT64_C(1)) * PAGE_BYTES +
			to->offset % PAGE_BYTES;
	if (s->bytes < wide && !(s->kind == STORE_BLOCK && s->object))
		s->bytes = wide;
	s->mixed |= !has_type(to->size) || to->size != wide;
	s->vague |= to->size > FOLLOW_MOST;
	if (!has_type(to->size) && to->size > m->odd)
		m->odd = to->size;
}

static struct cell *cell_at(struct memory *m, uint32_t store, uint64_t offset)
{
	uint32_t *number = map_put(&m->cell_ids, (uint64_t)store << 32 | offset / 8);

	if (!*number) {
		*number = ++m->cell_count;
		*memory_cell(m, *number) = (struct cell){.store = store, .offset = offset / 8 * 8};
	}
	return memory_cell(m, *number);
}

static void set(uint8_t *mask, uint8_t bit, bool on)
{
	*mask = (uint8_t)(on ? *mask | bit : *mask & ~bit);
}

/* Whether byte i of the access has no value that the trace tells. */
static bool is_unknown(struct memory *m, const struct spot *at, uint32_t i)
{
	struct cell *c = cell_at(m, at->store, at->offset + i);
	uint8_t bit = (uint8_t)(1 << (at->offset + i) % 8);

	if (c->written & bit)
		return !(c->known & bit);
	return memory_store(m, at->store)->kind == STORE_BLOCK;
}

/* What nobody has written had this value from the start. */
static void adopt(struct memory *m, const struct spot *at, uint32_t i, uint8_t byte)
{
	struct cell *c = cell_at(m, at->store, at->offset + i);
	uint32_t in = (at->offset + i) % 8;

	if (c->written & 1 << in)
		return;
	c->byte[in] = byte;
	set(&c->written, (uint8_t)(1 << in), true);
	set(&c->known, (uint8_t)(1 << in), true);
}

static void follow_read(struct memory *m, const struct event *e, struct spot *to)
{
	uint32_t size = to->size < 8 ? to->size : 8;

	for (uint32_t i = 0; i < size; i++)
		if (is_unknown(m, to, i))
			return;
	for (uint32_t i = 0; i < size; i++)
		adopt(m, to, i, (uint8_t)(e->value >> i * 8));
	to->checked = to->size <= 8;
}

static void follow_write(struct memory *m, const struct event *e, const struct spot *to)
{
	for (uint32_t i = 0; i < to->size; i++) {
		struct cell *c = cell_at(m, to->store, to->offset + i);
		uint8_t bit = (uint8_t)(1 << (to->offset + i) % 8);

		set(&c->written, bit, true);
		set(&c->known, bit, i < 8 && (e->flags & EVENT_VALUED));
	}
}

void memory_follow(struct memory *m, const struct event *e, struct spot *to)
{
	bool reads = e->kind == EVENT_READ || e->kind == EVENT_ATOMIC_LOAD;

	if (memory_store(m, to->store)->vague)
		return;
	if (!reads)
		follow_write(m, e, to);
	else if (e->flags & EVENT_VALUED)
		follow_read(m, e, to);
}
