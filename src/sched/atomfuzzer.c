/* SPDX-License-Identifier: MIT */
/*
 * atomfuzzer: the pause of AtomFuzzer (Park, Sen, FSE 2008). A thread that is about to take a lock which it has had
 * before is held back, by the toss of a coin, until another thread has had that lock, or nobody else can go on, or
 * PAUSE steps are over: if both sections belong to one block, the other thread splits it. Otherwise a random walk that
 * changes threads at synchronisation, and at every eighth access.
 *
 * We know no blocks here, so any lock that the thread has had before counts, whichever function took it; and one thread
 * is held back at a time.
 *
 * Memory: a slot's word has thread 24 | 40 bits, one for each lock that it had, by hash; behind them who is held back.
 */
#include <stddef.h>

#include "event/event.h"
#include "sched/strategy.h"

enum {
	HELD_BACK = SCHED_THREADS, /* number of the thread, or 0 */
	HELD_OBJECT,
	HELD_SINCE,
	PAUSE = 2000,
	BITS = 40,
};

static bool takes_lock(const struct sched_thread *t)
{
	return t->kind == EVENT_ACQUIRE || t->kind == EVENT_ACQUIRE_SHARED;
}

static uint64_t bit_of(const struct sched_thread *t)
{
	return (uint64_t)1 << (t->object * 0x9e3779b97f4a7c15u >> 32) % BITS;
}

static bool had_before(struct sched *s, uint32_t slot)
{
	const struct sched_thread *t = &s->thread[slot];

	if (s->memory[slot] >> BITS != (t->number & 0xffffff))
		s->memory[slot] = (uint64_t)(t->number & 0xffffff) << BITS;
	return s->memory[slot] & bit_of(t);
}

static bool is_held_back(const struct sched *s, uint32_t slot)
{
	return s->memory[HELD_BACK] && s->thread[slot].number == s->memory[HELD_BACK];
}

static void consider(struct sched *s)
{
	uint32_t c = s->current;

	if (s->memory[HELD_BACK] && s->step - s->memory[HELD_SINCE] > PAUSE)
		s->memory[HELD_BACK] = 0;
	if (s->memory[HELD_BACK] || !sched_may(s, c) || !takes_lock(&s->thread[c]) || !had_before(s, c))
		return;
	if (!sched_random(s, 2))
		return;
	s->memory[HELD_BACK] = s->thread[c].number;
	s->memory[HELD_OBJECT] = s->thread[c].object;
	s->memory[HELD_SINCE] = s->step;
}

static uint32_t pick_but(struct sched *s, bool held_too)
{
	uint32_t choices = 0, n;

	for (uint32_t i = 0; i < s->threads; i++)
		choices += sched_may(s, i) && (held_too || !is_held_back(s, i));
	n = choices ? sched_random(s, choices) : 0;
	for (uint32_t i = 0; i < s->threads; i++)
		if (sched_may(s, i) && (held_too || !is_held_back(s, i)) && !n--)
			return i;
	return SCHED_NOBODY;
}

static bool is_access(const struct sched_thread *t)
{
	return t->kind == EVENT_READ || t->kind == EVENT_WRITE;
}

static uint32_t pick(struct sched *s)
{
	uint32_t slot, c = s->current;

	consider(s);
	if (sched_may(s, c) && !is_held_back(s, c) && is_access(&s->thread[c]) && sched_random(s, 8))
		return c;
	slot = pick_but(s, false);
	if (slot == SCHED_NOBODY) {
		s->memory[HELD_BACK] = 0;
		slot = pick_but(s, true);
	}
	if (slot < s->threads && takes_lock(&s->thread[slot])) {
		/* The other one has come between. */
		if (s->memory[HELD_BACK] && s->thread[slot].object == s->memory[HELD_OBJECT])
			s->memory[HELD_BACK] = 0;
		had_before(s, slot);
		s->memory[slot] |= bit_of(&s->thread[slot]);
	}
	return slot;
}

extern const struct strategy strategy_atomfuzzer;
const struct strategy strategy_atomfuzzer = {
	.name = "atomfuzzer",
	.summary = "a random walk that holds threads back before they take a lock again",
	.pick = pick,
};
