/* SPDX-License-Identifier: MIT */
#include "lesson.h"

#include <stdlib.h>

static int by_number(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static void take_pairs(struct lesson *l, struct chase *c)
{
	l->pair = arena_alloc(&c->arena, (c->pairs.count + 1) * sizeof *l->pair);
	for (uint64_t i = 0; c->pairs.count && i <= c->pairs.mask; i++)
		if (c->pairs.entry[i].used)
			l->pair[l->pairs++] = c->pairs.entry[i].key;
	qsort(l->pair, l->pairs, sizeof *l->pair, by_number);
}

void lesson_of(struct lesson *l, struct chase *c)
{
	*l = (struct lesson){.last = c->last, .events = c->events, .steps = c->steps, .repeats = c->repeats,
		.reached = c->reached, .candidate = c->known, .candidates = c->knowns, .plan = c->plan, .plans = c->plans,
		.wide = c->late, .wides = c->lates, .hit = c->hit, .hits = c->hits, .failure = c->failure,
		.failures = c->failures};
	take_pairs(l, c);
}

static bool is_known(const struct chase *c, uint64_t id)
{
	for (size_t i = 0; i < c->hits; i++)
		if (c->hit[i].id == id)
			return true;
	return false;
}

static bool learn_hits(struct chase *c, const struct lesson *l)
{
	bool fresh = false;

	for (size_t i = 0; i < l->hits; i++) {
		const struct chase_hit *h = &l->hit[i];

		if (is_known(c, h->id) || (c->setup->only && c->setup->only != h->id))
			continue;
		c->hit = arena_reserve(&c->arena, c->hit, &c->hit_room, c->hits, sizeof *c->hit);
		c->hit[c->hits] = *h;
		c->hit[c->hits++].executions = c->executions + 1;
		chase_note_done(c, h);
		fresh = true;
	}
	return fresh;
}

static void learn_failures(struct chase *c, const struct lesson *l)
{
	for (size_t i = 0; i < l->failures; i++) {
		uint32_t *known = map_put(&c->done, l->failure[i].key);

		if (*known)
			continue;
		*known = 1;
		c->failure = arena_reserve(&c->arena, c->failure, &c->failure_room, c->failures, sizeof *c->failure);
		c->failure[c->failures++] = l->failure[i];
	}
}

static bool learn_news(struct chase *c, const struct lesson *l)
{
	bool fresh = false;

	for (size_t i = 0; i < l->candidates; i++)
		if (chase_wants(c, l->candidate[i]))
			fresh |= chase_note_candidate(c, l->candidate[i]);
	for (size_t i = 0; i < l->pairs; i++)
		fresh |= chase_note_pair(c, l->pair[i]);
	return fresh;
}

static void learn_plans(struct chase *c, const struct lesson *l, struct shard shard)
{
	for (size_t i = 0; i < l->plans; i++) {
		if (!chase_wants(c, l->plan[i].of) || !shard_has_key(shard, l->plan[i].of.key))
			continue;
		if (l->plan[i].worked_out)
			c->feasible += chase_is_first_plan(c, l->plan[i].of.key);
		chase_add_plan(c, l->plan[i]);
	}
}

bool lesson_learn(struct chase *c, const struct lesson *l, bool free)
{
	uint64_t candidates = c->candidates, plans = c->plans;
	struct shard shard = free && !c->seed ? c->setup->shard : (struct shard){0};
	bool fresh, kept;

	c->events += l->events;
	c->steps = l->steps;
	c->repeats += l->repeats;
	c->reached |= l->reached;
	c->last = l->last;
	kept = learn_hits(c, l);
	learn_failures(c, l);
	fresh = learn_news(c, l);
	if (fresh)
		learn_plans(c, l, shard);
	for (size_t i = 0; i < l->wides; i++)
		if (chase_wants_wide(c, l->wide[i].of.key) && shard_has_key(shard, l->wide[i].of.key))
			chase_add_wide(c, l->wide[i]);
	c->last.candidates = c->candidates - candidates;
	c->last.plans = c->plans - plans;
	return fresh || kept;
}
