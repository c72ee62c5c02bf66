/* SPDX-License-Identifier: MIT */
#include "holds.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"

void holds_init(struct holds *h, struct arena *a)
{
	*h = (struct holds){.arena = a, .count = 1};
	map_init(&h->by_hash, a);
	h->set = arena_reserve(a, NULL, &h->room, 0, sizeof *h->set);
}

static bool same(const struct holds_set *s, const struct held_lock *at, size_t count)
{
	return s->count == count && memcmp(s->at, at, count * sizeof *at) == 0;
}

/* The id of that content; `at` is kept if it is new. */
static uint32_t keep(struct holds *h, const struct held_lock *at, size_t count)
{
	uint32_t *first, id;

	if (!count)
		return 0;
	first = map_put(&h->by_hash, hash_bytes(at, count * sizeof *at));
	for (id = *first; id; id = h->set[id].next)
		if (same(&h->set[id], at, count))
			return id;
	h->set = arena_reserve(h->arena, h->set, &h->room, h->count, sizeof *h->set);
	h->set[h->count] = (struct holds_set){at, count, *first};
	*first = (uint32_t)h->count;
	return (uint32_t)h->count++;
}

static struct held_lock *copy(struct holds *h, uint32_t id, size_t more)
{
	struct holds_set s = h->set[id];
	struct held_lock *to = arena_alloc(h->arena, (s.count + more + 1) * sizeof *to);

	if (s.count)
		memcpy(to, s.at, s.count * sizeof *to);
	return to;
}

uint32_t holds_take(struct holds *h, uint32_t id, const struct held_lock *lock)
{
	size_t count = h->set[id].count;
	struct held_lock *to = copy(h, id, 1);

	for (size_t i = 0; i < count; i++)
		if (to[i].address == lock->address && (lock->address || to[i].acquisition == lock->acquisition)) {
			to[i].depth += lock->address != 0;
			return keep(h, to, count);
		}
	to[count] = *lock;
	to[count].depth = 1;
	return keep(h, to, count + 1);
}

static uint32_t without(struct holds *h, uint32_t id, const struct held_lock *lock, bool all)
{
	size_t count = h->set[id].count;
	struct held_lock *to = copy(h, id, 0);

	for (size_t i = 0; i < count; i++) {
		if (to[i].address != lock->address || (!lock->address && to[i].class != lock->class))
			continue;
		if (!all && --to[i].depth)
			return keep(h, to, count);
		memmove(to + i, to + i + 1, (count - i - 1) * sizeof *to);
		return keep(h, to, count - 1);
	}
	return id;
}

uint32_t holds_give(struct holds *h, uint32_t id, const struct held_lock *lock)
{
	return without(h, id, lock, false);
}

uint32_t holds_drop(struct holds *h, uint32_t id, uint64_t address)
{
	return without(h, id, &(struct held_lock){.address = address}, true);
}

const struct held_lock *holds_find(const struct holds *h, uint32_t id, uint64_t address)
{
	struct holds_set s = h->set[id];

	for (size_t i = 0; i < s.count; i++)
		if (s.at[i].address == address)
			return &s.at[i];
	return NULL;
}

static bool may_be_same(const struct held_lock *x, const struct held_lock *y)
{
	if (x->address && y->address)
		return x->address == y->address;
	return !x->class || !y->class || x->class == y->class;
}

bool holds_excludes(const struct holds *h, uint32_t id, const struct held_lock *lock)
{
	struct holds_set s = h->set[id];

	for (size_t i = 0; i < s.count; i++)
		if (may_be_same(&s.at[i], lock) && !(s.at[i].shared && lock->shared))
			return true;
	return false;
}

bool holds_alike(const struct holds *h, uint32_t x, uint32_t y)
{
	struct holds_set s = h->set[x];

	if (s.count != h->set[y].count)
		return false;
	for (size_t i = 0; i < s.count; i++)
		if (!holds_find(h, y, s.at[i].address))
			return false;
	return true;
}
