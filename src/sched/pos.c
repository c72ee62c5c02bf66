/* SPDX-License-Identifier: MIT */
/*
 * pos: partial order sampling (Yuan, Yang, Gu, CAV 2018). Each operation that some thread is about to do has a random
 * priority; the greatest goes first. Once an operation is done, those that race with it draw again, and so does the
 * thread's next one. So orders that differ only in operations that commute are not sampled again and again.
 *
 * A priority is a function of seed, thread and number of draws, so that nothing but the number of draws is kept.
 * Memory: a slot's word has thread 32 | draws 32; behind them, the operation that was picked last.
 */
#include "pos.h"

#include <stddef.h>

#include "event/event.h"
#include "sched/strategy.h"

enum { LAST_SLOT = SCHED_THREADS, LAST_OBJECT, LAST_KIND };

_Static_assert(LAST_KIND - LAST_SLOT + 1 == POS_WORDS, "as pos.h says");

static bool only_reads(uint32_t kind)
{
	return kind == EVENT_READ || kind == EVENT_ATOMIC_LOAD || kind == EVENT_ACQUIRE_SHARED;
}

static bool races(const struct sched *s, const struct sched_thread *t)
{
	return t->object && t->object == s->memory[LAST_OBJECT] &&
		!(only_reads(t->kind) && only_reads((uint32_t)s->memory[LAST_KIND]));
}

/* The word is another's if a slot has got another thread. */
static void draw(struct sched *s)
{
	for (uint32_t i = 0; i < s->threads; i++) {
		const struct sched_thread *t = &s->thread[i];

		if (!t->number)
			continue;
		if (s->memory[i] >> 32 != t->number)
			s->memory[i] = (uint64_t)t->number << 32;
		else if (i + 1 == s->memory[LAST_SLOT] || races(s, t))
			s->memory[i] = (s->memory[i] & ~(uint64_t)UINT32_MAX) | (uint32_t)(s->memory[i] + 1);
	}
}

uint32_t pos_pick(struct sched *s)
{
	uint32_t best = SCHED_NOBODY;
	uint64_t most = 0;

	draw(s);
	for (uint32_t i = 0; i < s->threads; i++) {
		uint64_t priority = sched_may(s, i) ? sched_hash(s, s->memory[i]) | 1 : 0;

		if (priority > most) {
			most = priority;
			best = i;
		}
	}
	s->memory[LAST_SLOT] = (uint64_t)best + 1;
	s->memory[LAST_OBJECT] = best < s->threads ? s->thread[best].object : 0;
	s->memory[LAST_KIND] = best < s->threads ? s->thread[best].kind : 0;
	return best;
}

extern const struct strategy strategy_pos;
const struct strategy strategy_pos = {
	.name = "pos",
	.summary = "partial order sampling: random priorities for operations, drawn again by those that race",
	.pick = pos_pick,
};
