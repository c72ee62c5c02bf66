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
			(struct period_chain){rest, p};
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

	while (i < old.count && line_of(s, chain_of(s, old.chain[i])->last) < line_of(s, p))
		i++;
	has = i < old.count && line_of(s, chain_of(s, old.chain[i])->last) == line_of(s, p);
	if (has && chain_of(s, old.chain[i])->last == p)
		return set;
	new.count += !has;
	new.early |= p < 64 ? (uint64_t)1 << p : 0;
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
		if (line_of(s, p->last) == line_of(s, q->last))
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
			if (line_of(s, chain_of(s, chain)->last) == line_of(s, last) &&
				any_fits(s, chain_of(s, chain)->last, last, members_of(s, between)))
				return true;
	return false;
}
