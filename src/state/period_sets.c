/* SPDX-License-Identifier: MIT */
#include "period_sets.h"

#include "base/arena.h"

enum answer { UNASKED, YES, NO };

void period_sets_init(struct period_sets *s, struct arena *a, struct periods *periods)
{
	*s = (struct period_sets){.periods = periods};
	seg_init(&s->node, a, sizeof(struct period_node));
	map_init(&s->by_content, a);
	map_init(&s->asked, a);
}

static const struct period_node *node_of(struct period_sets *s, period_set set)
{
	return seg_at(&s->node, set, sizeof(struct period_node));
}

period_set period_set_add_new(struct period_sets *s, period_set set, period_id p)
{
	uint32_t *id = map_put(&s->by_content, (uint64_t)set << 32 | p);

	if (!*id) {
		*id = ++s->count;
		*(struct period_node *)seg_at(&s->node, *id, sizeof(struct period_node)) =
			(struct period_node){set, p};
	}
	return *id;
}

/*
 * Backwards through both: the later one of two that are ordered is after all that the other set has left, for those
 * are earlier still.
 */
static bool any_concurrent(struct period_sets *s, period_set a, period_set b)
{
	while (a && b) {
		const struct period_node *p = node_of(s, a), *q = node_of(s, b);

		if (p->last == q->last)
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

bool period_sets_concurrent(struct period_sets *s, period_set a, period_set b)
{
	uint32_t *known;

	if (!s->periods)
		return period_set_last(s, a) != period_set_last(s, b);
	known = map_put(&s->asked, (uint64_t)a << 32 | b);
	if (*known == UNASKED)
		*known = any_concurrent(s, a, b) ? YES : NO;
	return *known == YES;
}

static uint32_t line_of(struct period_sets *s, period_id p)
{
	return ((const struct period *)seg_at(&s->periods->period, p, sizeof(struct period)))->line;
}

bool period_set_fits(struct period_sets *s, period_set set, period_id first, period_id last)
{
	for (; set; set = node_of(s, set)->rest) {
		period_id p = node_of(s, set)->last;

		if (!s->periods)
			return p != first;
		if (line_of(s, p) != line_of(s, first) && !period_before(s->periods, p, first) &&
			!period_before(s->periods, last, p))
			return true;
	}
	return false;
}
