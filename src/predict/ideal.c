/* SPDX-License-Identifier: MIT */
#include "ideal.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"

/* While it grows. */
struct growth {
	struct ideal *d;
	const struct whole *w;
	uint32_t *looked; /* by thread: how far its steps were looked at */
	uint32_t mine, culprit; /* threads */
	bool fails;
	struct map taken; /* lock: the thread that acquires it in the window + 1, or MANY */
};

enum { MANY = UINT32_MAX };

bool ideal_keeps(const struct ideal *d, uint32_t step)
{
	const struct step *s = &d->w->step[step], *x = &d->w->step[d->at->culprit];

	if (d->tier == TIER_C || step == d->at->second || step == d->at->culprit)
		return false;
	return !(s->thread == x->thread && s->at > x->at && step_reads(x));
}

/* Its thread goes on to the step, if it may. */
static void need(struct growth *g, uint32_t step)
{
	const struct step *s = &g->w->step[step];

	if (step < g->d->start || s->at < g->d->upto[s->thread])
		return;
	if (s->thread == g->mine)
		g->fails = true;
	else
		g->d->upto[s->thread] = s->at + 1;
}

/*
 * The writes that a read sees. By values another one may do: a write that is out of reach is left to whoever solves it.
 */
static void need_sources(struct growth *g, const struct step *s)
{
	for (uint32_t k = 0; k < s->locs; k++) {
		uint32_t source = g->w->source[s->source + k];
		bool fails = g->fails;

		if (source == NO_STEP)
			continue;
		need(g, source);
		if (g->d->tier == TIER_B)
			g->fails = fails;
	}
}

static void note_lock(struct growth *g, const struct step *s)
{
	uint32_t *who = map_put(&g->taken, s->object);

	*who = !*who || *who == s->thread + 1 ? s->thread + 1 : MANY;
}

static void look_at(struct growth *g, uint32_t step)
{
	const struct step *s = &g->w->step[step];

	if (s->at == 0 && g->w->thread[s->thread].fork != NO_STEP)
		need(g, g->w->thread[s->thread].fork);
	if (step_is_access(s) && step_reads(s) && ideal_keeps(g->d, step))
		need_sources(g, s);
	if (s->kind == STEP_JOIN && whole_last_step(g->w, s->object) != NO_STEP)
		need(g, whole_last_step(g->w, s->object));
	if (s->kind == STEP_TAKE && s->mate != NO_STEP)
		need(g, s->mate);
	if (s->signal != NO_STEP)
		need(g, s->signal);
	for (uint32_t a = s->kind == STEP_DEPART ? g->w->round[s->object] : NO_STEP; a != NO_STEP; a = g->w->step[a].mate)
		need(g, a);
	if (s->kind == STEP_ACQUIRE)
		note_lock(g, s);
}

/* Looks at everything new. Returns whether there was anything. */
static bool grow(struct growth *g)
{
	bool any = false;

	for (uint32_t t = 0; t < g->w->threads; t++) {
		const uint32_t *list = whole_thread_steps(g->w, t).at;

		for (; g->looked[t] < g->d->upto[t] && !g->fails; any = true)
			look_at(g, list[g->looked[t]++]);
	}
	return any;
}

/* The sections that are open where the thread stops. */
static uint32_t open_at_end(const struct growth *g, uint32_t t, uint32_t *released)
{
	uint32_t upto = g->d->upto[t];
	const struct step *s;

	*released = NO_STEP;
	if (!upto)
		return 0;
	s = &g->w->step[whole_thread_steps(g->w, t).at[upto - 1]];
	if (s->kind == STEP_RELEASE)
		*released = s->mate;
	return s->held;
}

static bool is_open_at_second(const struct growth *g, uint32_t lock)
{
	uint32_t released, h = open_at_end(g, g->mine, &released);

	for (; h; h = g->w->holding[h].next)
		if (g->w->step[g->w->holding[h].acquire].object == lock)
			return true;
	return false;
}

static bool stays_open(const struct growth *g, uint32_t t, const struct step *acquire)
{
	uint32_t who = map_get(&g->taken, acquire->object);

	if (t == g->mine || acquire->mate == NO_STEP)
		return true;
	if (is_open_at_second(g, acquire->object))
		return false;
	return !who || who == t + 1 || (t == g->culprit && g->d->open);
}

static void close_sections(struct growth *g)
{
	for (uint32_t t = 0; t < g->w->threads; t++) {
		uint32_t released, h = open_at_end(g, t, &released);

		for (; h; h = g->w->holding[h].next) {
			uint32_t acquire = g->w->holding[h].acquire;

			if (acquire != released && !stays_open(g, t, &g->w->step[acquire]))
				need(g, g->w->step[acquire].mate);
		}
	}
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The window ends with the last of the three and has so many events, or more if they are further apart. */
static uint32_t start_of(const struct ideal_setup *p)
{
	const struct step *s = p->w->step;
	uint32_t low = least(s[p->at->first].event, s[p->at->culprit].event), high = s[p->at->second].event;

	if (s[p->at->culprit].event > high)
		high = s[p->at->culprit].event;
	return p->window && high >= p->window ? p->w->first_of[least(low, high - p->window + 1)] : 0;
}

static void number_nodes(struct ideal *d)
{
	for (uint32_t t = 0; t < d->w->threads; t++) {
		uint32_t n = d->upto[t] - d->from[t];

		d->base[t] = d->nodes;
		d->slot[t] = d->active;
		if (!n)
			continue;
		d->thread[d->active++] = t;
		d->nodes += n;
	}
	d->step = arena_alloc(d->arena, (d->nodes + 1) * sizeof *d->step);
	for (uint32_t k = 0; k < d->active; k++) {
		uint32_t t = d->thread[k];

		memcpy(d->step + d->base[t], whole_thread_steps(d->w, t).at + d->from[t],
			(d->upto[t] - d->from[t]) * sizeof *d->step);
	}
}

static uint32_t *by_thread(struct ideal *d)
{
	return arena_alloc(d->arena, (d->w->threads + 1) * sizeof(uint32_t));
}

bool ideal_make(struct ideal *d, struct arena *a, const struct ideal_setup *p)
{
	struct growth g = {.d = d, .w = p->w, .mine = p->w->step[p->at->second].thread,
		.culprit = p->w->step[p->at->culprit].thread};

	*d = (struct ideal){.arena = a, .w = p->w, .at = p->at, .tier = p->tier, .open = p->open, .start = start_of(p)};
	d->from = by_thread(d);
	d->upto = by_thread(d);
	d->base = by_thread(d);
	d->slot = by_thread(d);
	d->thread = by_thread(d);
	g.looked = by_thread(d);
	map_init(&g.taken, a);
	for (uint32_t t = 0; t < p->w->threads; t++)
		d->from[t] = d->upto[t] = g.looked[t] = slice_before(whole_thread_steps(p->w, t), d->start);
	d->upto[g.mine] = p->w->step[p->at->second].at + 1;
	need(&g, p->at->culprit);
	while (grow(&g) && !g.fails)
		close_sections(&g);
	number_nodes(d);
	return !g.fails;
}
