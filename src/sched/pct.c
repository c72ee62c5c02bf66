/* SPDX-License-Identifier: MIT */
/*
 * pct: probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010). Each thread has a random priority, and the
 * greatest that can goes on. At d random steps of the run whoever runs falls below all others, the later the deeper.
 *
 * The paper draws those steps from the length of the run, which nobody knows before. If the order has a budget, that is
 * taken for it; otherwise each is drawn from a random power of two, so that short and long runs have some. A thread that
 * yields stands back (strategy.h), or a waiting loop of the first thread would last for ever.
 *
 * Memory: a slot's word has thread 32 | number of its last fall 32; behind them the steps of the falls, 0 once done.
 */
#include <stddef.h>

#include "sched/strategy.h"

enum { FALLS = SCHED_THREADS, DEPTH_USUAL = 3, POWERS_LEAST = 3, POWERS = 14 };

static uint32_t depth_of(const struct sched *s)
{
	uint32_t depth = s->order->depth ? s->order->depth : DEPTH_USUAL;

	return depth < ORDER_DEPTH_MOST ? depth : (uint32_t)ORDER_DEPTH_MOST;
}

static void start(struct sched *s)
{
	for (uint32_t i = 0; i < depth_of(s); i++) {
		uint64_t length = s->order->budget;

		if (!length || length > UINT32_MAX)
			length = (uint64_t)1 << (POWERS_LEAST + sched_random(s, POWERS));
		s->memory[FALLS + i] = 1 + sched_random(s, (uint32_t)length);
	}
}

static void fall(struct sched *s)
{
	for (uint32_t i = 0; i < depth_of(s); i++)
		if (s->memory[FALLS + i] && s->memory[FALLS + i] <= s->step) {
			s->memory[FALLS + i] = 0;
			if (s->current < s->threads && s->thread[s->current].number)
				s->memory[s->current] = (uint64_t)s->thread[s->current].number << 32 | (i + 1);
		}
}

/* Those that fell are below; among them, the last one is the lowest. */
static uint64_t priority(struct sched *s, uint32_t slot)
{
	uint32_t number = s->thread[slot].number, fallen;

	if (s->memory[slot] >> 32 != number)
		s->memory[slot] = (uint64_t)number << 32;
	fallen = (uint32_t)s->memory[slot];
	return fallen ? ORDER_DEPTH_MOST + 1 - fallen : sched_hash(s, number) | (uint64_t)1 << 63;
}

static uint32_t pick(struct sched *s)
{
	uint32_t best = SCHED_NOBODY;
	uint64_t most = 0;

	fall(s);
	for (uint32_t i = 0; i < s->threads; i++)
		if (sched_may(s, i) && priority(s, i) > most) {
			most = priority(s, i);
			best = i;
		}
	return best;
}

extern const struct strategy strategy_pct;
const struct strategy strategy_pct = {
	.name = "pct",
	.summary = "random priorities for threads, with a few changes (--depth)",
	.start = start,
	.pick = pick,
};
