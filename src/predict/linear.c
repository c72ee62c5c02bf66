/* SPDX-License-Identifier: MIT */
#include "linear.h"

#include <string.h>

#include "base/arena.h"

struct lock_state {
	uint32_t exclusive, shared; /* how many hold it */
};

struct place {
	uint32_t last; /* node of the last write; DONE */
	uint32_t wait; /* kept reads of it that are still to come */
};

struct walk {
	const struct closure *c;
	const struct ideal *d;
	uint32_t *waits;       /* by node: edges into it that are still to come */
	uint32_t *next;        /* by slot */
	uint32_t *readers;     /* by node: kept reads of each of its locations, from `first` on */
	uint32_t *first;       /* by node */
	struct place *place;   /* by number of the location */
	struct map lock_of;    /* lock to its number + 1 */
	struct lock_state *lock;
	uint32_t locks;
	bool free; /* nothing but edges matters */
};

static bool is_kept(const struct walk *k, uint32_t v)
{
	const struct step *s = ideal_step(k->d, v);

	return !k->free && k->d->tier == TIER_A && step_is_access(s) && step_reads(s) && ideal_keeps(k->d, k->d->step[v]);
}

static uint32_t *readers_of(const struct walk *k, uint32_t write, uint32_t loc)
{
	return &k->readers[k->first[write] + loc - ideal_step(k->d, write)->object];
}

/* Counts who reads what. */
static void count_readers(struct walk *k)
{
	const struct closure *c = k->c;

	for (uint32_t v = 0; v < k->d->nodes; v++) {
		const struct step *s = ideal_step(k->d, v);

		for (uint32_t i = 0; i < s->locs && is_kept(k, v); i++) {
			uint32_t x = closure_loc(c, s->object + i), w = closure_source(c, s, i);

			if (x == NO_STEP)
				continue;
			if (w == DONE)
				k->place[x].wait++;
			else
				++*readers_of(k, w, s->object + i);
		}
	}
}

static void make_locks(struct walk *k, struct arena *a)
{
	map_init(&k->lock_of, a);
	k->lock = arena_alloc(a, (k->c->section_count + 1) * sizeof *k->lock);
	for (uint32_t i = 0; i < k->c->section_count; i++) {
		const struct section *s = &k->c->section[i];
		uint32_t *number = map_put(&k->lock_of, s->lock);

		if (!*number)
			*number = ++k->locks;
		if (s->acquire == DONE)
			++*(s->shared ? &k->lock[*number - 1].shared : &k->lock[*number - 1].exclusive);
	}
}

static void walk_start(struct walk *k, const struct closure *c, bool free)
{
	const struct ideal *d = c->d;
	struct arena *a = c->arena;
	uint32_t n = 0;

	*k = (struct walk){.c = c, .d = d, .free = free};
	k->waits = arena_alloc(a, (d->nodes + 1) * sizeof *k->waits);
	memcpy(k->waits, c->into, d->nodes * sizeof *k->waits);
	k->next = arena_alloc(a, (d->active + 1) * sizeof *k->next);
	for (uint32_t s = 0; s < d->active; s++)
		k->next[s] = d->base[d->thread[s]];
	k->first = arena_alloc(a, (d->nodes + 1) * sizeof *k->first);
	for (uint32_t v = 0; v < d->nodes; v++) {
		k->first[v] = n;
		n += ideal_step(d, v)->locs;
	}
	k->readers = arena_alloc(a, (n + 1) * sizeof *k->readers);
	k->place = arena_alloc(a, (c->writes.count + 1) * sizeof *k->place);
	for (uint32_t x = 0; x < c->writes.count; x++)
		k->place[x].last = DONE;
	count_readers(k);
	make_locks(k, a);
}

static struct lock_state *lock_of(const struct walk *k, const struct step *s)
{
	return &k->lock[map_get(&k->lock_of, s->object) - 1];
}

static bool may_access(const struct walk *k, uint32_t v)
{
	const struct step *s = ideal_step(k->d, v);
	bool kept = is_kept(k, v);

	for (uint32_t i = 0; i < s->locs; i++) {
		uint32_t x = closure_loc(k->c, s->object + i);

		if (x == NO_STEP)
			continue;
		if (kept && k->place[x].last != closure_source(k->c, s, i))
			return false;
		if (step_writes(s) && k->place[x].wait > (kept ? 1 : 0))
			return false;
	}
	return true;
}

static bool may(const struct walk *k, uint32_t v)
{
	const struct step *s = ideal_step(k->d, v);

	if (k->waits[v])
		return false;
	if (k->free)
		return true;
	if (s->kind == STEP_ACQUIRE)
		return !lock_of(k, s)->exclusive && (s->shared || !lock_of(k, s)->shared);
	return !step_is_access(s) || may_access(k, v);
}

static void access(struct walk *k, uint32_t v)
{
	const struct step *s = ideal_step(k->d, v);
	bool kept = is_kept(k, v);

	for (uint32_t i = 0; i < s->locs; i++) {
		uint32_t x = closure_loc(k->c, s->object + i);

		if (x == NO_STEP)
			continue;
		if (kept)
			k->place[x].wait--;
		if (step_writes(s))
			k->place[x] = (struct place){v, *readers_of(k, v, s->object + i)};
	}
}

static void take(struct walk *k, uint32_t v)
{
	const struct step *s = ideal_step(k->d, v);

	for (uint32_t e = k->c->head[v]; e; e = k->c->edge[e - 1].next)
		k->waits[k->c->edge[e - 1].to]--;
	if (k->free)
		return;
	if (step_is_access(s))
		access(k, v);
	else if (s->kind == STEP_ACQUIRE)
		++*(s->shared ? &lock_of(k, s)->shared : &lock_of(k, s)->exclusive);
	else if (s->kind == STEP_RELEASE)
		--*(s->shared ? &lock_of(k, s)->shared : &lock_of(k, s)->exclusive);
}

/* The slot that goes on: `now` if it can and is to, otherwise the one that comes first in the trace. */
static uint32_t choose(const struct walk *k, uint32_t now, bool stay)
{
	const struct ideal *d = k->d;
	uint32_t best = NO_STEP;

	for (uint32_t i = 0; i < d->active; i++) {
		uint32_t s = (now + i) % d->active, t = d->thread[s], v = k->next[s];

		if (v >= d->base[t] + d->upto[t] - d->from[t] || !may(k, v))
			continue;
		if (stay && s == now)
			return s;
		if (best == NO_STEP || d->step[v] < d->step[k->next[best]])
			best = s;
	}
	return best;
}

static bool walk_all(struct walk *k, bool stay, uint32_t *steps)
{
	uint32_t now = 0;

	for (uint32_t n = 0; n < k->d->nodes; n++) {
		now = choose(k, now, stay);
		if (now == NO_STEP)
			return false;
		steps[n] = k->d->step[k->next[now]];
		take(k, k->next[now]++);
	}
	return true;
}

bool linear_make(const struct closure *c, uint32_t *steps)
{
	struct walk k;

	for (int stay = 1; stay >= 0; stay--) {
		walk_start(&k, c, false);
		if (walk_all(&k, stay, steps))
			return true;
	}
	return false;
}

bool linear_sort(const struct closure *c, uint32_t *steps)
{
	struct walk k;

	walk_start(&k, c, true);
	return walk_all(&k, true, steps);
}
