/* SPDX-License-Identifier: MIT */
#include "wide.h"

#include "base/arena.h"
#include "base/hash.h"
#include "check/run.h"
#include "predict/candidate.h"
#include "predict/must.h"

enum { PAIRS_MOST = 2, NEAR = 64 };

/* Two accesses of one activation to different locations. */
struct pair {
	uint32_t first, second, x, y;
	struct block block;
};

struct finder {
	struct run *run;
	const struct whole *w;
	bool *shared; /* by location: threads conflict there */
	uint64_t seq; /* of the last event that was looked at */
	struct pair *pair;
	size_t pairs, capacity;
	struct map times; /* of (places, block): how many pairs there are */
};

static void *finder_start(struct run *run)
{
	struct finder *f = arena_alloc(run->arena, sizeof *f);

	f->run = run;
	map_init(&f->times, run->arena);
	return f;
}

static bool is_shared(const struct whole *w, uint32_t loc)
{
	struct slice all = whole_loc_steps(w, loc);
	bool written = false, several = false;

	for (uint32_t i = 0; i < all.count; i++) {
		written |= step_writes(&w->step[all.at[i]]);
		several |= w->step[all.at[i]].thread != w->step[all.at[0]].thread;
	}
	return written && several;
}

void wides_of(struct run *run, const struct whole *w)
{
	struct finder *f = run_check_state(run, check_wides.name);

	f->w = w;
	f->shared = arena_alloc(run->arena, w->locs + 1);
	for (uint32_t x = 0; x < w->locs; x++)
		f->shared[x] = is_shared(w, x);
}

/* ---- Pairs: while the blocks are open. ---- */

/* The first of the step's locations that threads share; NO_STEP: none. */
static uint32_t shared_of(const struct finder *f, const struct step *s)
{
	for (uint32_t x = s->object; step_is_access(s) && x < s->object + s->locs; x++)
		if (f->shared[x])
			return x;
	return NO_STEP;
}

static uint64_t site_of(const struct whole *w, uint32_t step)
{
	return w->event[w->step[step].event].site;
}

static void add_pair(struct finder *f, struct pair p)
{
	uint64_t key = hash_pair(hash_pair(p.block.code, site_of(f->w, p.first)), site_of(f->w, p.second));
	uint32_t *times = map_put(&f->times, key);

	if (*times >= PAIRS_MOST)
		return;
	++*times;
	f->pair = arena_reserve(f->run->arena, f->pair, &f->capacity, f->pairs, sizeof p);
	f->pair[f->pairs++] = p;
}

static void look_back(struct finder *f, uint32_t second, uint32_t y, const struct activations *open)
{
	const struct step *s = &f->w->step[second];
	const uint32_t *list = whole_thread_steps(f->w, s->thread).at;

	for (uint32_t i = s->at, n = 0; i-- > 0 && n < LOOK_BACK; n++) {
		uint32_t x = shared_of(f, &f->w->step[list[i]]);
		const struct activation *a = activations_holding(open, f->w->event[f->w->step[list[i]].event].seq);

		if (!a)
			return;
		if (x != NO_STEP && !step_touches(&f->w->step[list[i]], y))
			add_pair(f, (struct pair){list[i], second, x, y, block_of(a, f->w->event[s->event].thread)});
	}
}

static void finder_access(void *self, const struct event *e)
{
	struct finder *f = self;
	struct activations *open = run_open(f->run, e->line);
	uint32_t step = f->w->step_of[e->seq - 1], y;

	if (e->seq == f->seq || step == NO_STEP || e->assumed || !activations_outermost(open))
		return;
	f->seq = e->seq;
	y = shared_of(f, &f->w->step[step]);
	if (y != NO_STEP)
		look_back(f, step, y, open);
}

const struct check check_wides = {
	.name = "wides",
	.summary = "accesses to two variables that would split a block",
	.single = true,
	.start = finder_start,
	.on = {[ON_ACCESS] = finder_access},
};

/* ---- Culprits. ---- */

struct making {
	const struct whole *w;
	struct must must;
};

/* Whether the step may come between both, and conflicts with the one of them that is `with`. */
static bool may_split(const struct making *m, const struct pair *p, uint32_t step, uint32_t with)
{
	const struct step *c = &m->w->step[step], *s = &m->w->step[with];

	return c->thread != s->thread && m->w->event[c->event].kind != EVENT_ALLOC && (step_writes(c) || step_writes(s)) &&
		!candidate_is_locked(m->w, &(struct instance){.first = p->first, .culprit = step, .second = p->second}) &&
		!must_before(&m->must, step, p->first) && !must_before(&m->must, p->second, step);
}

static bool are_near(const struct whole *w, uint32_t a, uint32_t b)
{
	uint32_t x = w->step[a].at, y = w->step[b].at;

	return w->step[a].thread == w->step[b].thread && (x < y ? y - x : x - y) <= NEAR;
}

/* Fills in the culprits, of one thread or of two. False if there are none. */
static bool find_culprits(const struct making *m, const struct pair *p, bool one, struct wide *to)
{
	struct slice xs = whole_loc_steps(m->w, p->x), ys = whole_loc_steps(m->w, p->y);

	for (uint32_t i = 0; i < xs.count && i < LOOK_AROUND; i++) {
		uint32_t c = xs.at[i];

		for (uint32_t k = 0; may_split(m, p, c, p->first) && k < ys.count && k < LOOK_AROUND; k++) {
			uint32_t d = ys.at[k];
			bool same = m->w->step[c].thread == m->w->step[d].thread;

			if (same != one || (same && !are_near(m->w, c, d)) || !may_split(m, p, d, p->second))
				continue;
			*to = (struct wide){p->first, p->second, {one ? NO_STEP : c, one && c > d ? c : d}, p->block};
			return true;
		}
	}
	return false;
}

struct wides wides_found(struct run *run, struct arena *a)
{
	const struct finder *f = run_check_state(run, check_wides.name);
	struct wides found = {.at = arena_alloc(a, (2 * f->pairs + 1) * sizeof *found.at)};
	struct making m = {.w = f->w};

	must_init(&m.must, a, f->w);
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < f->pairs; i++)
			found.count += find_culprits(&m, &f->pair[i], pass == 0, &found.at[found.count]);
	return found;
}
