/* SPDX-License-Identifier: MIT */
#include "strategy.h"

#include <stddef.h>

extern const struct strategy strategy_plan, strategy_pos, strategy_pct, strategy_random, strategy_atomfuzzer,
	strategy_replay;

const struct strategy *const strategies[] = {
	&strategy_plan, &strategy_pos, &strategy_pct, &strategy_random, &strategy_atomfuzzer, &strategy_replay, NULL,
};

/* Without the C library: see runtime/wrap_string.c. */
static bool is_equal(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

const struct strategy *strategy_named(const char *name)
{
	for (const struct strategy *const *g = strategies; *g; g++)
		if (is_equal((*g)->name, name))
			return *g;
	return NULL;
}

/* splitmix64 */
static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
}

uint32_t sched_random(struct sched *s, uint32_t below)
{
	s->random += 0x9E3779B97F4A7C15u;
	return (uint32_t)(((mix(s->random) >> 32) * below) >> 32);
}

uint64_t sched_hash(const struct sched *s, uint64_t of)
{
	return mix(mix(s->order->seed + 0x9E3779B97F4A7C15u) + of * 0x9E3779B97F4A7C15u);
}

/* Byte by byte: see above. */
void sched_start(struct sched *s, const struct order *o)
{
	const struct strategy *g = strategy_named(o->strategy);
	volatile unsigned char *at = (volatile unsigned char *)s;

	for (size_t i = 0; i < sizeof *s; i++)
		at[i] = 0;
	s->order = o;
	s->random = mix(o->seed + 1);
	if (g && g->start)
		g->start(s);
}

static uint8_t rank_of(const struct sched *s, uint32_t slot)
{
	const struct sched_thread *t = &s->thread[slot];

	if (!t->number)
		return RANK_NONE;
	if (t->runnable)
		return t->yields && s->step - t->since < SCHED_PATIENCE ? RANK_YIELDING : RANK_RUNNABLE;
	return t->expiring ? RANK_EXPIRING : RANK_NONE;
}

bool sched_may(const struct sched *s, uint32_t slot)
{
	return slot < s->threads && s->rank && rank_of(s, slot) == s->rank &&
		(s->rank != RANK_EXPIRING || s->thread[slot].until == s->least);
}

uint32_t sched_find(const struct sched *s, uint32_t number)
{
	for (uint32_t i = 0; i < s->threads; i++)
		if (number && s->thread[i].number == number)
			return i;
	return SCHED_NOBODY;
}

uint32_t sched_go_on(const struct sched *s)
{
	for (uint32_t n = 0; n < s->threads; n++)
		if (sched_may(s, (s->current + n) % s->threads))
			return (s->current + n) % s->threads;
	return SCHED_NOBODY;
}

void sched_diverge(struct sched *s)
{
	if (!s->diverged)
		s->diverged_at = s->step;
	s->diverged = true;
	s->asks = SCHED_ASKS_SHARED;
}

static bool anyone_is_away(const struct sched *s)
{
	for (uint32_t i = 0; i < s->threads; i++)
		if (s->thread[i].number && s->thread[i].away)
			return true;
	return false;
}

static void look(struct sched *s)
{
	s->rank = RANK_NONE;
	s->least = UINT64_MAX;
	for (uint32_t i = 0; i < s->threads; i++) {
		uint8_t rank = rank_of(s, i);

		s->rank = rank > s->rank ? rank : s->rank;
		if (rank == RANK_EXPIRING && s->thread[i].until < s->least)
			s->least = s->thread[i].until;
	}
}

static bool is_pick(const struct sched *s, uint32_t slot)
{
	const struct sched_thread *t = slot < s->threads ? &s->thread[slot] : NULL;

	return t && t->number && (t->runnable || t->expiring || t->away);
}

uint32_t sched_pick(struct sched *s, const struct strategy *g)
{
	bool away = anyone_is_away(s);
	uint32_t slot;

	look(s);
	s->quiet = 0;
	s->culprit = false;
	if (!s->rank && !away)
		return SCHED_NOBODY;
	if (s->order->budget && s->step > s->order->budget)
		slot = s->rank ? sched_go_on(s) : SCHED_LATER;
	else
		slot = s->rank ? g->pick(s) : SCHED_LATER;
	if (slot == SCHED_LATER || is_pick(s, slot))
		return slot;
	return sched_go_on(s);
}
