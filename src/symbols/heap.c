/* SPDX-License-Identifier: MIT */
#include "heap.h"

#include "base/arena.h"

enum { GRAIN = 16, LARGE = 1 << 16, LIVES = 8 };

void heap_init(struct heap *h, struct arena *a)
{
	*h = (struct heap){.arena = a};
	map_init(&h->starts, a);
	map_init(&h->large_known, a);
	seg_init(&h->lives, a, sizeof(struct life));
}

static struct life *life_at(const struct heap *h, uint32_t i)
{
	return seg_at((struct seg *)&h->lives, i, sizeof(struct life)); /* it is there: nothing is made */
}

static bool is_alike(const struct life *a, const struct life *b)
{
	return a->start == b->start && a->bytes == b->bytes && a->site == b->site && a->stack == b->stack &&
		a->code == b->code;
}

/*
 * A place for a new life in front of the chain. If that is full the oldest goes: what stood there then can no longer be
 * told, which is better than a wrong answer, and memory is bounded by the places that were ever allocated.
 */
static uint32_t take_place(struct heap *h, uint32_t newest)
{
	struct life *l = newest ? life_at(h, newest) : NULL;
	uint32_t place;

	if (!l || l->length < LIVES)
		return h->count < UINT32_MAX - 1 ? ++h->count : 0;
	l->length = LIVES - 1;
	while (life_at(h, l->older)->older)
		l = life_at(h, l->older);
	place = l->older;
	l->older = 0;
	return place;
}

static void note_large(struct heap *h, uint64_t key)
{
	uint32_t *known = map_put(&h->large_known, key);

	if (*known)
		return;
	*known = 1;
	h->large = arena_reserve(h->arena, h->large, &h->large_capacity, h->large_count, sizeof *h->large);
	h->large[h->large_count++] = key;
}

static void settle(struct heap *h, struct life life)
{
	uint32_t *newest = map_put(&h->starts, life.start / GRAIN), place;
	struct life *before = *newest ? life_at(h, *newest) : NULL;

	if (before && is_alike(before, &life)) {
		before->last = life.last;
		return;
	}
	place = take_place(h, *newest);
	if (!place)
		return;
	life.first = life.last;
	life.older = *newest;
	life.length = before ? before->length + 1 : 1;
	*newest = place;
	*life_at(h, place) = life;
	if (life.bytes >= LARGE)
		note_large(h, life.start / GRAIN);
	else if (life.bytes > h->widest)
		h->widest = life.bytes;
}

/* The map's place of the newest is asked for, and what the one in the middle leads to. */
void heap_add(struct heap *h, struct life life)
{
	uint32_t newest;

	if (h->added - h->settled == HEAP_NEW)
		settle(h, h->fresh[h->settled++ % HEAP_NEW]);
	map_fetch(&h->starts, life.start / GRAIN);
	h->fresh[h->added++ % HEAP_NEW] = life;
	newest = map_get(&h->starts, h->fresh[(h->added + HEAP_NEW / 2) % HEAP_NEW].start / GRAIN);
	__builtin_prefetch(life_at(h, newest), 1);
}

/* A look at every life that may hold the address. */
struct search {
	const struct heap *heap;
	uint64_t address, seq;
	const struct life *best; /* the one that was last begun */
	unsigned count;
};

static void consider(struct search *s, uint64_t key)
{
	for (uint32_t i = map_get(&s->heap->starts, key); i; i = life_at(s->heap, i)->older) {
		const struct life *l = life_at(s->heap, i);

		if (s->address < l->start || s->address - l->start >= l->bytes || l->first > s->seq)
			continue;
		s->count++;
		if (!s->best || l->last > s->best->last)
			s->best = l;
	}
}

/*
 * If two held the address, the one that was last begun does, provided that its last life had begun by then: otherwise
 * which of them it was depends on lives that are not kept apart.
 */
bool heap_find(struct heap *h, uint64_t address, uint64_t seq, struct life *found)
{
	struct search s = {.heap = h, .address = address, .seq = seq};
	uint64_t last = address / GRAIN, reach;

	while (h->settled < h->added)
		settle(h, h->fresh[h->settled++ % HEAP_NEW]);
	reach = h->widest / GRAIN + 1;
	for (uint64_t key = last > reach ? last - reach : 0; key <= last; key++)
		consider(&s, key);
	for (size_t i = 0; i < h->large_count; i++)
		if (last - h->large[i] > reach) /* and those that start behind: they do not hold it */
			consider(&s, h->large[i]);
	if (!s.best || (s.count > 1 && s.best->last > seq))
		return false;
	*found = *s.best;
	return true;
}
