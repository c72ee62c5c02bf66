/* SPDX-License-Identifier: MIT */
#include "must.h"

#include <string.h>

#include "base/arena.h"

/* What is kept while segments are made. */
struct making {
	const struct whole *w;
	struct must *m;
	uint32_t *now; /* by thread: its segment + 1 */
	uint32_t segments;
};

static bool begins_segment(const struct step *s)
{
	return s->at == 0 || s->kind == STEP_JOIN || s->kind == STEP_DEPART;
}

static uint32_t *clock_of(const struct making *k, uint32_t segment)
{
	return k->m->clock + (size_t)segment * k->w->threads;
}

/* Everything up to and with the step comes before the segment. */
static void comes_after(const struct making *k, uint32_t segment, uint32_t step)
{
	const struct step *s = &k->w->step[step];
	uint32_t *to = clock_of(k, segment), *from = clock_of(k, k->m->segment[step]);

	for (uint32_t t = 0; t < k->w->threads; t++)
		to[t] = from[t] > to[t] ? from[t] : to[t];
	if (s->at + 1 > to[s->thread])
		to[s->thread] = s->at + 1;
}

static void begin(struct making *k, const struct step *s)
{
	const struct whole *w = k->w;
	uint32_t segment = k->segments++, before = k->now[s->thread];

	if (before)
		memcpy(clock_of(k, segment), clock_of(k, before - 1), w->threads * sizeof(uint32_t));
	else if (w->thread[s->thread].fork != NO_STEP)
		comes_after(k, segment, w->thread[s->thread].fork);
	if (s->kind == STEP_JOIN && whole_last_step(w, s->object) != NO_STEP)
		comes_after(k, segment, whole_last_step(w, s->object));
	for (uint32_t a = s->kind == STEP_DEPART ? w->round[s->object] : NO_STEP; a != NO_STEP; a = w->step[a].mate)
		comes_after(k, segment, a);
	k->now[s->thread] = segment + 1;
}

static size_t count_segments(const struct whole *w)
{
	size_t n = 0;

	for (uint32_t i = 0; i < w->steps; i++)
		n += begins_segment(&w->step[i]);
	return n;
}

void must_init(struct must *m, struct arena *a, const struct whole *w)
{
	size_t segments = count_segments(w);
	struct making k = {.w = w, .m = m};

	*m = (struct must){.whole = w};
	if (segments * w->threads > MUST_MOST)
		return;
	m->segment = arena_alloc(a, (w->steps + 1) * sizeof *m->segment);
	m->clock = arena_alloc(a, (segments * w->threads + 1) * sizeof *m->clock);
	k.now = arena_alloc(a, (w->threads + 1) * sizeof *k.now);
	for (uint32_t i = 0; i < w->steps; i++) {
		if (begins_segment(&w->step[i]))
			begin(&k, &w->step[i]);
		m->segment[i] = k.now[w->step[i].thread] - 1;
	}
}

bool must_before(const struct must *m, uint32_t a, uint32_t b)
{
	const struct step *x = &m->whole->step[a], *y = &m->whole->step[b];

	if (x->thread == y->thread)
		return x->at < y->at;
	return m->segment && m->clock[(size_t)m->segment[b] * m->whole->threads + x->thread] > x->at;
}
