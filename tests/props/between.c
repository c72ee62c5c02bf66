/* SPDX-License-Identifier: MIT */
#include "between.h"

#include <string.h>

#include "event/event.h"
#include "seen.h"
#include "steps.h"

enum { STATES = 1 << 17, CELLS = 16 };

struct state {
	uint64_t positions;
	uint8_t last[CELLS]; /* step + 1 that wrote it; 0: nobody */
};

struct search {
	struct steps steps;
	const struct between *q;
	int a, x, b;
	uint8_t saw[STEPS_MOST][CELLS]; /* what each step saw in the trace */
	bool known[CELLS];	       /* somebody has seen the initial value */
	uint64_t initial[CELLS];
	struct seen seen;
};

static bool is_valued(const struct step *s)
{
	return s->event->flags & EVENT_VALUED && !(s->event->flags & EVENT_ADDRESSED) && !s->reacquires;
}

static bool pure_read(const struct step *s)
{
	return steps_reads(s) && !steps_writes(s);
}

static bool touches(const struct step *s, size_t cell)
{
	return (s->cells >> cell & 1) && !s->reacquires;
}

static void look(struct search *k)
{
	uint8_t last[CELLS] = {0};

	for (size_t n = 0; n < steps_count(&k->steps); n++) {
		size_t i = k->steps.order[n];
		const struct step *s = &k->steps.at[i];

		memcpy(k->saw[i], last, sizeof last);
		for (size_t c = 0; c < CELLS; c++) {
			if (!touches(s, c))
				continue;
			if (pure_read(s) && is_valued(s) && !last[c] && !k->known[c]) {
				k->known[c] = true;
				k->initial[c] = s->event->value;
			}
			if (steps_writes(s))
				last[c] = (uint8_t)(i + 1);
		}
	}
}

static bool is_free(const struct search *k, size_t i)
{
	const struct step *x = &k->steps.at[k->x];

	return (int)i == k->x || (int)i == k->b ||
	       (k->steps.at[i].thread == x->thread && (int)i > k->x && steps_reads(x));
}

static bool same_value(const struct search *k, const struct step *read, size_t cell, uint8_t writer)
{
	if (!k->q->values || !pure_read(read) || !is_valued(read))
		return false;
	if (!writer)
		return k->known[cell] && k->initial[cell] == read->event->value;
	return steps_writes(&k->steps.at[writer - 1]) && is_valued(&k->steps.at[writer - 1]) &&
	       k->steps.at[writer - 1].event->value == read->event->value;
}

static bool sees(const struct search *k, const struct state *at, size_t i)
{
	const struct step *s = &k->steps.at[i];

	for (size_t c = 0; c < CELLS && steps_reads(s) && !is_free(k, i); c++)
		if (touches(s, c) && at->last[c] != k->saw[i][c] && !same_value(k, s, c, at->last[c]))
			return false;
	return true;
}

static struct state after(const struct search *k, struct state at, size_t i)
{
	const struct step *s = &k->steps.at[i];

	at.positions += (uint64_t)1 << (8 * s->thread);
	for (size_t c = 0; c < CELLS; c++)
		if (touches(s, c) && steps_writes(s))
			at.last[c] = (uint8_t)(i + 1);
	return at;
}

static bool is_new(struct search *k, const struct state *at)
{
	uint64_t key[1 + CELLS / 8];

	key[0] = at->positions | STEPS_MARK;
	memcpy(&key[1], at->last, CELLS);
	return seen_add(&k->seen, key);
}

static bool reaches(struct search *k, struct state at)
{
	if (steps_done(at.positions, k->steps.at[k->b].thread) >= steps_position(&k->steps, (size_t)k->b))
		return true;
	if (!is_new(k, &at))
		return false;
	for (size_t t = 0; t < k->steps.threads; t++) {
		int i = steps_next(&k->steps, at.positions, t);

		if (i >= 0 && steps_can(&k->steps, at.positions, (size_t)i) && sees(k, &at, (size_t)i) &&
			reaches(k, after(k, at, (size_t)i)))
			return true;
	}
	return false;
}

enum reorder_answer between_possible(const struct event *events, size_t n, const struct between *q)
{
	static struct search k;
	bool found;

	memset(&k, 0, sizeof k);
	k.q = q;
	if (!steps_make(&k.steps, events, n))
		return REORDER_UNDECIDED;
	for (size_t i = 0; i < steps_count(&k.steps); i++)
		if (k.steps.at[i].cells >> CELLS)
			return REORDER_UNDECIDED;
	k.a = steps_of(&k.steps, q->a);
	k.x = steps_of(&k.steps, q->x);
	k.b = steps_of(&k.steps, q->b);
	steps_require(&k.steps, (size_t)k.x, (size_t)k.a);
	steps_require(&k.steps, (size_t)k.b, (size_t)k.x);
	look(&k);
	seen_init(&k.seen, 1 + CELLS / 8, STATES);
	found = reaches(&k, (struct state){0});
	seen_free(&k.seen);
	return found ? REORDER_YES : k.seen.full ? REORDER_UNDECIDED : REORDER_NO;
}
