/* SPDX-License-Identifier: MIT */
/*
 * Thread periods: the parts into which fork, join and barriers divide each thread, and which of them can run at the
 * same time whatever the schedule (Wang and Stoller, IEEE TSE 2006, section 4).
 *
 * A fork ends the parent's period; the parent's next one and the child's first come after it. A join ends the joining
 * thread's period; its next one also comes after the joined thread's last. Each departure from a barrier starts a
 * period that comes after all that arrived there. Locks order no periods.
 *
 * Representation: a period is (line, number on that line) and a clock that says for each line which of its periods
 * are before. So "p before q" is one comparison. Ids count from 1 and are dense.
 * Nobody knows the id of a period that period_now was never asked for: the line's next one takes its place.
 * Cost: a clock for each period that was asked for, and one a line.
 */
#ifndef FISSION_STATE_PERIODS_H
#define FISSION_STATE_PERIODS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/seg.h"
#include "state/vclock.h"

typedef uint32_t period_id;

#define PERIOD_UNASKED ((period_id)1 << 31)

struct period {
	uint32_t line;
	clock_time number;    /* on its line, from 1 */
	struct vclock before; /* by line: the last period that is before this one */
};

struct periods {
	struct arena *arena;
	struct seg current; /* period_id by line, 0 for none yet, with PERIOD_UNASKED */
	struct seg period;  /* struct period by id */
	period_id count;
};

void periods_init(struct periods *p, struct arena *a);

/* Slow path of period_now: nobody has asked for this one. */
period_id period_asked(struct periods *p, uint32_t line);

/* The period that the line is in. */
static inline period_id period_now(struct periods *p, uint32_t line)
{
	period_id id = *(period_id *)seg_at(&p->current, line, sizeof id);

	return __builtin_expect(id - 1 < PERIOD_UNASKED - 1, 1) ? id : period_asked(p, line);
}

/* Whether p ends before q starts, in every schedule. */
static inline bool period_before(struct periods *s, period_id p, period_id q)
{
	const struct period *a = seg_at(&s->period, p, sizeof *a), *b = seg_at(&s->period, q, sizeof *b);

	return a->number <= vclock_get(&b->before, a->line);
}

/* Whether both can run at the same time. */
static inline bool period_concurrent(struct periods *s, period_id p, period_id q)
{
	return p != q && !period_before(s, p, q) && !period_before(s, q, p);
}

void periods_fork(struct periods *p, uint32_t parent, uint32_t child);
void periods_join(struct periods *p, uint32_t parent, uint32_t child);
void periods_arrive(struct periods *p, uint32_t line, struct vclock *round);
void periods_depart(struct periods *p, uint32_t line, const struct vclock *round);

#endif
