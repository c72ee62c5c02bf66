/* SPDX-License-Identifier: MIT */
#include "period_sets.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"

enum answer { UNASKED, YES, NO };

void period_sets_init(struct period_sets *s, struct arena *a, struct periods *periods)
{
	*s = (struct period_sets){.arena = a, .periods = periods};
	seg_init(&s->chain, a, sizeof(struct period_chain));
	seg_init(&s->set, a, sizeof(struct period_members));
	map_init(&s->by_chain, a);
	map_init(&s->by_content, a);
	map_init(&s->added, a);
	map_init(&s->asked, a);
}

static const struct period_chain *chain_of(struct period_sets *s, uint32_t chain)
{
	return seg_at(&s->chain, chain, sizeof(struct period_chain));
}

static struct period_members members_of(struct period_sets *s, period_set set)
{
	return *(const struct period_members *)seg_at(&s->set, set, sizeof(struct period_members));
}

static uint32_t line_of(struct period_sets *s, period_id p)
{
	return s->periods ? ((const struct period *)seg_at(&s->periods->period, p, sizeof(struct period)))->line : p;
}

static uint32_t chain_add(struct period_sets *s, uint32_t rest, period_id p)
{
	uint32_t *id = map_put(&s->by_chain, (uint64_t)rest << 32 | p);

	if (!*id) {
		*id = ++s->chains;
		*(struct period_chain *)seg_at(&s->chain, *id, sizeof(struct period_chain)) =
			(struct period_chain){rest, p, line_of(s, p)};
	}
	return *id;
}

/* The set of these chains, which must be the arena's; they are taken back if it is known. */
static period_set intern(struct period_sets *s, struct period_members new, uint32_t *chain)
{
	size_t bytes = new.count * sizeof *chain;
	uint64_t key = hash_bytes(chain, bytes);
	struct period_members known;
	uint32_t *id;

	while (*(id = map_put(&s->by_content, key))) {
		known = members_of(s, *id);
		if (known.count == new.count && memcmp(known.chain, chain, bytes) == 0) {
			arena_recycle(s->arena, chain, bytes);
			return *id;
		}
		key = hash_word(key + 1);
	}
	*id = ++s->count;
	new.chain = chain;
	*(struct period_members *)seg_at(&s->set, *id, sizeof new) = new;
	return *id;
}

static period_set add_new(struct period_sets *s, period_set set, period_id p)
{
	struct period_members old = members_of(s, set), new = old;
	uint32_t i = 0, *chain;
	bool has;

	while (i < old.count && chain_of(s, old.chain[i])->line < line_of(s, p))
		i++;
	has = i < old.count && chain_of(s, old.chain[i])->line == line_of(s, p);
	if (has && chain_of(s, old.chain[i])->last == p)
		return set;
	new.count += !has;
	chain = arena_alloc(s->arena, new.count * sizeof *chain);
	if (i)
		memcpy(chain, old.chain, i * sizeof *chain);
	chain[i] = chain_add(s, has ? old.chain[i] : 0, p);
	if (i + has < old.count)
		memcpy(chain + i + 1, old.chain + i + has, (old.count - i - has) * sizeof *chain);
	return intern(s, new, chain);
}

period_set period_set_add(struct period_sets *s, period_set set, period_id p)
{
	uint64_t key = (uint64_t)set << 32 | p;
	uint32_t known = map_get(&s->added, key);
	period_set with;

	if (known)
		return known;
	with = add_new(s, set, p);
	*map_put(&s->added, key) = with;
	*map_put(&s->added, (uint64_t)with << 32 | p) = with;
	return with;
}

/* Tracks. */

static uint32_t *chains_in(struct period_track *t)
{
	return t->count == 1 ? &t->one : t->chain;
}

static const uint32_t *chains_of(const struct period_track *t)
{
	return t->count == 1 ? &t->one : t->chain;
}

/* The place of the line's chain, or where it would be. */
static uint32_t place_of(struct period_sets *s, const struct period_track *t, uint32_t line)
{
	uint32_t low = 0, high = t->count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (chain_of(s, chains_of(t)[middle])->line < line)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint32_t chain_at(struct period_sets *s, const struct period_track *t, uint32_t i, uint32_t line)
{
	if (i == t->count || chain_of(s, chains_of(t)[i])->line != line)
		return 0;
	return chains_of(t)[i];
}

/* Room for one more chain at place i. */
static void make_room(struct period_sets *s, struct period_track *t, uint32_t i)
{
	uint32_t one = t->one, capacity = t->capacity ? 2 * t->capacity : 4;

	if (t->count == 0) {
		t->count = 1;
		return;
	}
	if (t->count == 1) {
		t->chain = arena_alloc(s->arena, capacity * sizeof one);
		t->chain[0] = one;
		t->capacity = capacity;
	} else if (t->count == t->capacity) {
		t->chain = arena_grow(s->arena, t->chain, t->capacity * sizeof one, capacity * sizeof one);
		t->capacity = capacity;
	}
	memmove(t->chain + i + 1, t->chain + i, (t->count - i) * sizeof one);
	t->count++;
}

void period_track_add(struct period_sets *s, struct period_track *t, period_id p)
{
	uint32_t line = line_of(s, p), i = place_of(s, t, line), chain = chain_at(s, t, i, line);

	if (chain && chain_of(s, chain)->last == p)
		return;
	if (!chain)
		make_room(s, t, i);
	chains_in(t)[i] = chain_add(s, chain, p);
}

bool period_track_has(struct period_sets *s, const struct period_track *t, period_id p)
{
	uint32_t chain, line;

	if (t->count == 1)
		return chain_of(s, t->one)->last == p;
	line = line_of(s, p);
	chain = chain_at(s, t, place_of(s, t, line), line);
	return chain && chain_of(s, chain)->last == p;
}

bool period_track_is(struct period_sets *s, const struct period_track *t, period_id p)
{
	return t->count == 1 && chain_of(s, t->one)->last == p && !chain_of(s, t->one)->rest;
}

period_set period_track_set(struct period_sets *s, const struct period_track *t)
{
	size_t bytes = t->count * sizeof(uint32_t);
	uint32_t *chain;

	if (!t->count)
		return 0;
	chain = arena_alloc(s->arena, bytes);
	memcpy(chain, chains_of(t), bytes);
	return intern(s, (struct period_members){.count = t->count}, chain);
}

struct period_track period_track_copy(struct period_sets *s, const struct period_track *t)
{
	struct period_track copy = *t;

	if (t->count > 1) {
		copy.chain = arena_alloc(s->arena, t->capacity * sizeof *copy.chain);
		memcpy(copy.chain, t->chain, t->count * sizeof *copy.chain);
	}
	return copy;
}

void period_track_drop(struct period_sets *s, struct period_track *t)
{
	if (t->count > 1)
		arena_recycle(s->arena, t->chain, t->capacity * sizeof *t->chain);
	*t = (struct period_track){0};
}

/*
 * Backwards through both chains: the later one of two that are ordered is after all that the other chain has left, for
 * those are earlier still.
 */
static bool chains_concurrent(struct period_sets *s, uint32_t a, uint32_t b)
{
	while (a && b) {
		const struct period_chain *p = chain_of(s, a), *q = chain_of(s, b);

		if (!s->periods)
			return p->last != q->last;
		if (p->line == q->line)
			return false;
		if (period_before(s->periods, p->last, q->last))
			b = q->rest;
		else if (period_before(s->periods, q->last, p->last))
			a = p->rest;
		else
			return true;
	}
	return false;
}

static bool any_concurrent(struct period_sets *s, struct period_members a, struct period_members b)
{
	for (uint32_t i = 0; i < a.count; i++)
		for (uint32_t j = 0; j < b.count; j++)
			if (chains_concurrent(s, a.chain[i], b.chain[j]))
				return true;
	return false;
}

bool period_sets_concurrent(struct period_sets *s, period_set a, period_set b)
{
	uint32_t *known = map_put(&s->asked, (uint64_t)a << 32 | b);

	if (*known == UNASKED)
		*known = any_concurrent(s, members_of(s, a), members_of(s, b)) ? YES : NO;
	return *known == YES;
}

static bool fits(struct period_sets *s, period_id first, period_id last, period_id p)
{
	return line_of(s, p) != line_of(s, first) && !period_before(s->periods, p, first) &&
	       !period_before(s->periods, last, p);
}

static bool any_fits(struct period_sets *s, period_id first, period_id last, struct period_members between)
{
	for (uint32_t i = 0; i < between.count; i++)
		for (uint32_t chain = between.chain[i]; chain; chain = chain_of(s, chain)->rest)
			if (fits(s, first, last, chain_of(s, chain)->last))
				return true;
	return false;
}

bool period_sets_fit(struct period_sets *s, period_set first, period_id last, period_set between)
{
	struct period_members from = members_of(s, first);

	for (uint32_t i = 0; i < from.count; i++)
		for (uint32_t chain = from.chain[i]; chain; chain = chain_of(s, chain)->rest)
			if (chain_of(s, chain)->line == line_of(s, last) &&
				any_fits(s, chain_of(s, chain)->last, last, members_of(s, between)))
				return true;
	return false;
}
