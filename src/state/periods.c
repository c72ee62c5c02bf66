/* SPDX-License-Identifier: MIT */
#include "periods.h"

#include "base/fail.h"

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

static period_id *current_of(struct periods *p, uint32_t line)
{
	return seg_at(&p->current, line, sizeof(period_id));
}

static struct period *period_new(struct periods *p, uint32_t line)
{
	if (p->count == PERIOD_UNASKED - 1)
		die(STATUS_UNFIT, "more than %u periods of threads", PERIOD_UNASKED - 1);
	*current_of(p, line) = ++p->count | PERIOD_UNASKED;
	return period_at(p, p->count);
}

/* The period that the line is in, by its record: which is not to ask for it. */
static struct period *period_of(struct periods *p, uint32_t line)
{
	period_id id = *current_of(p, line) & ~PERIOD_UNASKED;

	if (id)
		return period_at(p, id);
	*period_new(p, line) = (struct period){.line = line, .number = 1};
	return period_at(p, p->count);
}

period_id period_asked(struct periods *p, uint32_t line)
{
	period_of(p, line);
	return *current_of(p, line) &= ~PERIOD_UNASKED;
}

/*
 * The line's next period: after its former one, and after what that was after. Its number is new even if it takes the
 * former one's place: others may know the former by its number.
 */
static struct period *next(struct periods *p, uint32_t line)
{
	struct period *from = period_of(p, line);
	struct period *to = *current_of(p, line) & PERIOD_UNASKED ? from : period_new(p, line);
	clock_time ended = from->number;

	if (ended == UINT32_MAX)
		die(STATUS_UNFIT, "a thread with more than %u periods", UINT32_MAX);
	if (to != from)
		vclock_copy(&to->before, p->arena, &from->before);
	to->line = line;
	to->number = ended + 1;
	vclock_set(&to->before, p->arena, line, ended);
	return to;
}

/* What is before the end of the period. */
static void join_end(struct periods *p, struct vclock *to, const struct period *from)
{
	vclock_join(to, p->arena, &from->before);
	if (vclock_get(to, from->line) < from->number)
		vclock_set(to, p->arena, from->line, from->number);
}

void periods_fork(struct periods *p, uint32_t parent, uint32_t child)
{
	struct period *first = next(p, child);

	join_end(p, &first->before, period_of(p, parent));
	next(p, parent);
}

void periods_join(struct periods *p, uint32_t parent, uint32_t child)
{
	struct period *to = next(p, parent);

	join_end(p, &to->before, period_of(p, child));
}

void periods_arrive(struct periods *p, uint32_t line, struct vclock *round)
{
	join_end(p, round, period_of(p, line));
}

void periods_depart(struct periods *p, uint32_t line, const struct vclock *round)
{
	vclock_join(&next(p, line)->before, p->arena, round);
}
