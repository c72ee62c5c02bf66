/* SPDX-License-Identifier: MIT */
/*
 * plan: follows the order's steps, each of which is a milestone: before all others, the thread of the next one runs. If
 * it cannot, whoever it waits for runs, only until it can; if that is not known, any other that has no milestone of
 * its own to come, or at least does not stand at one. When none of them can go on, or a milestone was missed, the plan
 * has diverged: that is noted, and the run goes on freely by pos. So has it when the thread only yields on its way, again
 * and again, and all whom it might wait for stand at milestones of their own. When all are done, the run goes on with as
 * few changes as there can be.
 *
 * Asked only at synchronisation and at places that the order names: a thread on its way to its milestone need not be
 * stopped anywhere else.
 */
#include <stddef.h>

#include "sched/pos.h"
#include "sched/strategy.h"

enum { YIELDS_MOST = 200 }; /* in a row, with nobody else to go on */

/* How often the thread of the next milestone has yielded to nobody, behind what pos keeps. */
static uint64_t *yields_of(struct sched *s)
{
	return &s->memory[SCHED_THREADS + POS_WORDS];
}

static uint32_t diverge(struct sched *s)
{
	sched_diverge(s);
	return pos_pick(s);
}

static bool is_place_of(const struct sched_thread *t, const struct order_step *p)
{
	return t->number == p->thread && t->kind == p->kind && t->module == p->module && t->offset == p->offset;
}

static bool is_at(const struct sched_thread *t, const struct order_step *p)
{
	return is_place_of(t, p) && t->occurrence == p->occurrence;
}

static bool has_missed(const struct sched_thread *t, const struct order_step *p)
{
	return is_place_of(t, p) && t->occurrence > p->occurrence;
}

/* Whether the thread must not go on before its turn. */
static bool stands_at_own(const struct sched *s, const struct sched_thread *t)
{
	for (uint32_t i = s->next; i < s->order->steps; i++)
		if (order_step(s->order, i)->thread == t->number)
			return is_at(t, order_step(s->order, i));
	return false;
}

/* The last of those who wait for each other, if that can go on. */
static uint32_t blocker_of(const struct sched *s, uint32_t slot)
{
	for (uint32_t n = 0; n < s->threads && slot < s->threads; n++) {
		const struct sched_thread *t = &s->thread[slot];

		if (t->runnable)
			return n && !stands_at_own(s, t) ? slot : SCHED_NOBODY;
		slot = sched_find(s, t->blocker);
	}
	return SCHED_NOBODY;
}

static bool has_own(const struct sched *s, const struct sched_thread *t)
{
	for (uint32_t i = s->next; i < s->order->steps; i++)
		if (order_step(s->order, i)->thread == t->number)
			return true;
	return false;
}

static bool may_help(const struct sched *s, uint32_t slot, uint32_t but)
{
	return slot != but && sched_may(s, slot) && !stands_at_own(s, &s->thread[slot]);
}

/* Who has nothing to do in the plan; another may walk into a section in which it then has to wait for its turn. */
static bool may_help_best(const struct sched *s, uint32_t slot, uint32_t but)
{
	return may_help(s, slot, but) && !has_own(s, &s->thread[slot]);
}

static uint32_t any_of(struct sched *s, uint32_t but, bool (*may)(const struct sched *, uint32_t, uint32_t))
{
	uint32_t choices = 0, n;

	for (uint32_t i = 0; i < s->threads; i++)
		choices += may(s, i, but);
	n = choices ? sched_random(s, choices) : 0;
	for (uint32_t i = 0; i < s->threads; i++)
		if (may(s, i, but) && !n--)
			return i;
	return SCHED_NOBODY;
}

static uint32_t any_other(struct sched *s, uint32_t but)
{
	uint32_t best = any_of(s, but, may_help_best);

	return best == SCHED_NOBODY ? any_of(s, but, may_help) : best;
}

static uint32_t anyone_away(const struct sched *s)
{
	for (uint32_t i = 0; i < s->threads; i++)
		if (s->thread[i].number && s->thread[i].away)
			return i;
	return SCHED_NOBODY;
}

/* Others, so that the one in the slot can go on, or comes to be at all (`slot` SCHED_NOBODY). */
static uint32_t help(struct sched *s, uint32_t slot)
{
	uint32_t other = slot < s->threads ? blocker_of(s, slot) : (uint32_t)SCHED_NOBODY;

	if (other == SCHED_NOBODY)
		other = any_other(s, slot);
	if (other == SCHED_NOBODY && slot < s->threads && s->thread[slot].runnable && ++*yields_of(s) <= YIELDS_MOST)
		return slot; /* it yields, and nobody else wants to go on */
	if (other == SCHED_NOBODY)
		other = anyone_away(s);
	return other == SCHED_NOBODY ? diverge(s) : other;
}

static bool can_go(const struct sched *s, const struct sched_thread *t, const struct order_step *p)
{
	return t->runnable || (t->expiring && (s->rank == RANK_EXPIRING || (p->flags & ORDER_EXPIRES && is_at(t, p))));
}

static uint32_t reach(struct sched *s, uint32_t slot, const struct order_step *p)
{
	const struct sched_thread *t = &s->thread[slot];

	if (!is_at(t, p))
		return t->yields && s->step - t->since < SCHED_PATIENCE ? help(s, slot) : slot;
	*yields_of(s) = 0;
	s->culprit = p->flags & ORDER_CULPRIT;
	s->next++;
	s->done++;
	return slot;
}

static uint32_t pick(struct sched *s)
{
	const struct order_step *p;
	uint32_t slot;

	if (s->diverged)
		return pos_pick(s);
	if (s->next >= s->order->steps) {
		s->asks = SCHED_ASKS_NONE;
		return sched_go_on(s);
	}
	p = order_step(s->order, s->next);
	slot = sched_find(s, p->thread);
	if (slot == SCHED_NOBODY)
		return p->thread <= s->born ? diverge(s) : help(s, slot);
	if (has_missed(&s->thread[slot], p))
		return diverge(s);
	return can_go(s, &s->thread[slot], p) ? reach(s, slot, p) : help(s, slot);
}

static void start(struct sched *s)
{
	s->asks = SCHED_ASKS_PLACES;
}

extern const struct strategy strategy_plan;
const struct strategy strategy_plan = {
	.name = "plan",
	.summary = "the steps of a plan, one after the other",
	.start = start,
	.pick = pick,
};
