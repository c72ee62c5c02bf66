/* SPDX-License-Identifier: MIT */
#include "periods.h"

void periods_init(struct periods *p, struct arena *a)
{
	p->arena = a;
	p->count = 0;
	seg_init(&p->current, a, sizeof(period_id));
	seg_init(&p->period, a, sizeof(struct period));
}

static struct period *period_at(struct periods *p, period_id id)
{
	return seg_at(&p->period, id, sizeof(struct period));
}

period_id period_first(struct periods *p, uint32_t line)
{
	period_id id = ++p->count;

	*period_at(p, id) = (struct period){.line = line, .number = 1};
	*(period_id *)seg_at(&p->current, line, sizeof id) = id;
	return id;
}

/* The line's next period: after its former one, and after what that was after. */
static struct period *next(struct periods *p, uint32_t line)
{
	period_id old = period_now(p, line), id = ++p->count;
	const struct period *from = period_at(p, old);
	struct period *to = period_at(p, id);

	to->line = line;
	to->number = from->number + 1;
	vclock_copy(&to->before, p->arena, &from->before);
	vclock_set(&to->before, p->arena, line, from->number);
	*(period_id *)seg_at(&p->current, line, sizeof id) = id;
	return to;
}

/* What is before the end of the period. */
static void join_end(struct periods *p, struct vclock *to, period_id id)
{
	const struct period *from = period_at(p, id);

	vclock_join(to, p->arena, &from->before);
	if (vclock_get(to, from->line) < from->number)
		vclock_set(to, p->arena, from->line, from->number);
}

void periods_fork(struct periods *p, uint32_t parent, uint32_t child)
{
	period_id ended = period_now(p, parent);

	join_end(p, &next(p, child)->before, ended);
	next(p, parent);
}

void periods_join(struct periods *p, uint32_t parent, uint32_t child)
{
	period_id ended = period_now(p, child);

	join_end(p, &next(p, parent)->before, ended);
}

void periods_arrive(struct periods *p, uint32_t line, struct vclock *round)
{
	join_end(p, round, period_now(p, line));
}

void periods_depart(struct periods *p, uint32_t line, const struct vclock *round)
{
	vclock_join(&next(p, line)->before, p->arena, round);
}
