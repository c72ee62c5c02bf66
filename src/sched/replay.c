/* SPDX-License-Identifier: MIT */
/*
 * replay: the order's steps are segments: `run` steps of one thread, of which the last one is of that kind and at that
 * place. Every step counts, asked about or not, so the run is the same to the step if the program is; the check at the
 * end of each segment notices at once when it is not. From there on the run is free.
 *
 * Memory: the run's step with which the segment has begun.
 */
#include <stddef.h>

#include "sched/pos.h"
#include "sched/strategy.h"

enum { BEGAN = SCHED_THREADS + POS_WORDS };

static uint32_t diverge(struct sched *s)
{
	sched_diverge(s);
	return pos_pick(s);
}

static bool is_at(const struct sched_thread *t, const struct order_step *p)
{
	return t->kind == p->kind && t->module == p->module && t->offset == p->offset;
}

/* Whether the order has a segment for this step of the run. */
static bool find_segment(struct sched *s)
{
	if (!s->memory[BEGAN])
		s->memory[BEGAN] = s->step;
	while (s->next < s->order->steps && s->step - s->memory[BEGAN] >= order_step(s->order, s->next)->run) {
		s->memory[BEGAN] += order_step(s->order, s->next)->run;
		s->next++;
		s->done++;
	}
	return s->next < s->order->steps;
}

static bool can_go(const struct sched *s, const struct sched_thread *t, const struct order_step *p)
{
	return t->runnable || (t->expiring && (s->rank == RANK_EXPIRING || p->flags & ORDER_EXPIRES));
}

static uint32_t pick(struct sched *s)
{
	const struct order_step *p;
	uint64_t left;
	uint32_t slot;

	if (s->diverged)
		return pos_pick(s);
	if (!find_segment(s)) {
		s->asks = SCHED_ASKS_NONE;
		return sched_go_on(s);
	}
	p = order_step(s->order, s->next);
	slot = sched_find(s, p->thread);
	if (slot == SCHED_NOBODY)
		return diverge(s);
	if (s->thread[slot].away && !s->thread[slot].runnable)
		return slot;
	left = s->memory[BEGAN] + p->run - s->step;
	if (!can_go(s, &s->thread[slot], p) || (left == 1 && !is_at(&s->thread[slot], p)))
		return diverge(s);
	s->quiet = left > 2 ? left - 2 : 0;
	s->culprit = left == 1 && p->flags & ORDER_CULPRIT;
	return slot;
}

static void start(struct sched *s)
{
	s->asks = SCHED_ASKS_ALL;
}

extern const struct strategy strategy_replay;
const struct strategy strategy_replay = {
	.name = "replay",
	.summary = "the very order of an earlier run",
	.start = start,
	.pick = pick,
};
