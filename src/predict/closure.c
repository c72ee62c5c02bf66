/* SPDX-License-Identifier: MIT */
#include "closure.h"

#include <string.h>

#include "base/arena.h"

enum { ROUNDS_MOST = 10000 };

void closure_add(struct closure *c, uint32_t before, uint32_t after)
{
	if (before == DONE)
		return;
	if (after == DONE) {
		c->fails = true;
		return;
	}
	c->edge = arena_reserve(c->arena, c->edge, &c->edge_capacity, c->edges, sizeof *c->edge);
	c->edge[c->edges] = (struct closure_edge){after, c->head[before]};
	c->head[before] = (uint32_t)++c->edges;
	c->into[after]++;
}

/* ---- What the trace itself orders. ---- */

static void add_steps(struct closure *c, uint32_t before, uint32_t after)
{
	closure_add(c, ideal_node(c->d, before), ideal_node(c->d, after));
}

static void add_synchronisation(struct closure *c, uint32_t step)
{
	const struct whole *w = c->d->w;
	const struct step *s = &w->step[step];

	if (s->at == 0 && w->thread[s->thread].fork != NO_STEP)
		add_steps(c, w->thread[s->thread].fork, step);
	if (s->kind == STEP_JOIN && whole_last_step(w, s->object) != NO_STEP)
		add_steps(c, whole_last_step(w, s->object), step);
	if (s->kind == STEP_TAKE && s->mate != NO_STEP)
		add_steps(c, s->mate, step);
	for (uint32_t a = s->kind == STEP_DEPART ? w->round[s->object] : NO_STEP; a != NO_STEP; a = w->step[a].mate)
		add_steps(c, a, step);
	if (s->signal != NO_STEP) {
		add_steps(c, whole_thread_steps(w, s->thread).at[s->at - 1], s->signal);
		add_steps(c, s->signal, step);
	}
}

uint32_t closure_source(const struct closure *c, const struct step *read, uint32_t k)
{
	uint32_t source = c->d->w->source[read->source + k];

	if (source == NO_STEP || source < c->d->start)
		return DONE;
	return ideal_has(c->d, source) ? ideal_node(c->d, source) : NO_STEP;
}

static void add_sources(struct closure *c, uint32_t node)
{
	const struct step *s = ideal_step(c->d, node);

	for (uint32_t k = 0; k < s->locs; k++)
		closure_add(c, closure_source(c, s, k), node);
}

/* Whether a node is a read whose source is to be kept: of tiers A only, since by values there is a choice. */
static bool keeps(const struct closure *c, uint32_t node)
{
	const struct step *s = ideal_step(c->d, node);

	return c->d->tier == TIER_A && step_is_access(s) && step_reads(s) && ideal_keeps(c->d, c->d->step[node]);
}

static void add_given(struct closure *c)
{
	const struct instance *i = c->d->at;

	for (uint32_t v = 0; v < c->d->nodes; v++) {
		add_synchronisation(c, c->d->step[v]);
		if (keeps(c, v))
			add_sources(c, v);
	}
	add_steps(c, i->first, i->culprit);
	add_steps(c, i->culprit, i->second);
}

/* ---- Lists of writes and of sections. ---- */

static uint32_t *numbers(struct closure *c, size_t n)
{
	return arena_alloc(c->arena, (n + 1) * sizeof(uint32_t));
}

/* Sums of counts that stand one place further on: where the list of each begins. */
static void sum_up(uint32_t *first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		first[i + 1] += first[i];
}

static uint32_t slot_of(const struct closure *c, uint32_t node)
{
	return c->d->slot[ideal_step(c->d, node)->thread];
}

/* Cuts lists into groups. `first` says where lists begin, `slot` whose each entry is. */
static void make_groups(struct closure *c, struct groups *g, const uint32_t *first, const uint32_t *slot)
{
	uint32_t n = 0;

	g->at = arena_alloc(c->arena, (first[g->count] + 1) * sizeof *g->at);
	g->first = numbers(c, g->count + 1);
	for (uint32_t i = 0; i < g->count; i++) {
		g->first[i] = n;
		for (uint32_t k = first[i]; k < first[i + 1]; k++)
			if (n > g->first[i] && g->at[n - 1].slot == slot[k])
				g->at[n - 1].to = k + 1;
			else
				g->at[n++] = (struct group){slot[k], k, k + 1};
	}
	g->first[g->count] = n;
}

static void list_writes(struct closure *c)
{
	const struct ideal *d = c->d;
	uint32_t total = 0, *first, *fill, *slot;

	map_init(&c->locs, c->arena);
	for (uint32_t v = 0; v < d->nodes; v++) {
		const struct step *s = ideal_step(d, v);

		for (uint32_t k = 0; k < s->locs && step_writes(s); k++, total++) {
			uint32_t *number = map_put(&c->locs, s->object + k);

			if (!*number)
				*number = ++c->writes.count;
		}
	}
	first = numbers(c, c->writes.count + 1);
	fill = numbers(c, c->writes.count + 1);
	slot = numbers(c, total);
	c->write = numbers(c, total);
	for (int round = 0; round < 2; round++) {
		for (uint32_t v = 0; v < d->nodes; v++) {
			const struct step *s = ideal_step(d, v);

			for (uint32_t k = 0; k < s->locs && step_writes(s); k++) {
				uint32_t x = closure_loc(c, s->object + k);

				if (round == 0) {
					first[x + 1]++;
					continue;
				}
				slot[fill[x]] = slot_of(c, v);
				c->write[fill[x]++] = v;
			}
		}
		if (round == 0) {
			sum_up(first, c->writes.count);
			memcpy(fill, first, (c->writes.count + 1) * sizeof *fill);
		}
	}
	make_groups(c, &c->writes, first, slot);
}

/* The section of a lock operation, if it is the one that stands for it. */
static bool section_of(const struct closure *c, uint32_t node, struct section *to)
{
	const struct ideal *d = c->d;
	const struct step *s = ideal_step(d, node);

	*to = (struct section){.acquire = node, .release = NO_STEP, .lock = s->object, .slot = slot_of(c, node),
		.shared = s->shared};
	if (s->kind == STEP_ACQUIRE) {
		if (s->mate != NO_STEP && ideal_has(d, s->mate))
			to->release = ideal_node(d, s->mate);
		return true;
	}
	to->acquire = DONE;
	to->release = node;
	return s->kind == STEP_RELEASE && s->mate < d->start;
}

/* Somebody who has the lock since before the window and does not give it back: is it wanted by another? */
static bool is_blocked(const struct closure *c, uint32_t thread, const struct step *acquire, struct map *locks)
{
	uint32_t number = map_get(locks, acquire->object);

	if (!number || (acquire->mate != NO_STEP && ideal_has(c->d, acquire->mate)))
		return false;
	for (uint32_t i = c->sections.first[number - 1]; i < c->sections.first[number]; i++)
		for (uint32_t k = c->sections.at[i].from; k < c->sections.at[i].to; k++)
			if (c->d->thread[c->sections.at[i].slot] != thread && !(acquire->shared && c->section[k].shared))
				return true;
	return false;
}

static bool any_blocked(const struct closure *c, struct map *locks)
{
	const struct whole *w = c->d->w;

	for (uint32_t t = 0; t < w->threads; t++) {
		const struct step *last;
		uint32_t h;

		if (!c->d->from[t])
			continue;
		last = &w->step[whole_thread_steps(w, t).at[c->d->from[t] - 1]];
		for (h = last->held; h; h = w->holding[h].next) {
			uint32_t acquire = w->holding[h].acquire;

			if (!(last->kind == STEP_RELEASE && last->mate == acquire) && is_blocked(c, t, &w->step[acquire], locks))
				return true;
		}
	}
	return false;
}

static bool list_sections(struct closure *c)
{
	uint32_t total = 0, *first, *fill, *slot;
	struct map locks;
	struct section s;

	map_init(&locks, c->arena);
	for (uint32_t v = 0; v < c->d->nodes; v++)
		if (section_of(c, v, &s)) {
			uint32_t *number = map_put(&locks, s.lock);

			total++;
			if (!*number)
				*number = ++c->sections.count;
		}
	first = numbers(c, c->sections.count + 1);
	fill = numbers(c, c->sections.count + 1);
	slot = numbers(c, total);
	c->section = arena_alloc(c->arena, (total + 1) * sizeof *c->section);
	c->section_count = total;
	for (uint32_t v = 0; v < c->d->nodes; v++)
		if (section_of(c, v, &s))
			first[map_get(&locks, s.lock)]++;
	sum_up(first, c->sections.count);
	memcpy(fill, first, (c->sections.count + 1) * sizeof *fill);
	for (uint32_t v = 0; v < c->d->nodes; v++)
		if (section_of(c, v, &s)) {
			uint32_t at = fill[map_get(&locks, s.lock) - 1]++;

			c->section[at] = s;
			slot[at] = s.slot;
		}
	make_groups(c, &c->sections, first, slot);
	return !any_blocked(c, &locks);
}

bool closure_make(struct closure *c, struct arena *a, const struct ideal *d)
{
	*c = (struct closure){.d = d, .arena = a};
	c->clock = arena_alloc(a, ((size_t)d->nodes * d->active + 1) * sizeof *c->clock);
	c->head = numbers(c, d->nodes);
	c->into = numbers(c, d->nodes);
	add_given(c);
	list_writes(c);
	return list_sections(c) && !c->fails;
}

/* ---- Clocks. ---- */

struct sorting {
	struct closure *c;
	uint32_t *waits; /* by node: edges into it that are still to come */
	uint32_t *next;  /* by slot: its next node */
	uint32_t *stack; /* of slots that may go on */
	uint32_t depth, done;
};

static void take_clock(const struct closure *c, uint32_t from, uint32_t to)
{
	const uint32_t *a = c->clock + (size_t)from * c->d->active;
	uint32_t *b = c->clock + (size_t)to * c->d->active;

	for (uint32_t t = 0; t < c->d->active; t++)
		b[t] = a[t] > b[t] ? a[t] : b[t];
}

/* The thread goes on as far as it can. */
static void go_on(struct sorting *k, uint32_t slot)
{
	struct closure *c = k->c;
	uint32_t t = c->d->thread[slot], end = c->d->base[t] + c->d->upto[t] - c->d->from[t];

	for (; k->next[slot] < end && !k->waits[k->next[slot]]; k->done++) {
		uint32_t v = k->next[slot]++;

		if (v > c->d->base[t])
			take_clock(c, v - 1, v);
		c->clock[(size_t)v * c->d->active + slot] = v + 1 - c->d->base[t];
		for (uint32_t e = c->head[v]; e; e = c->edge[e - 1].next) {
			uint32_t to = c->edge[e - 1].to;

			take_clock(c, v, to);
			if (--k->waits[to] == 0 && slot_of(c, to) != slot)
				k->stack[k->depth++] = slot_of(c, to);
		}
	}
}

bool closure_sort(struct closure *c)
{
	struct sorting k = {.c = c};
	size_t bytes = ((size_t)c->d->nodes + 1) * sizeof *k.waits, stack = bytes + c->d->active * sizeof *k.stack;

	k.waits = arena_alloc(c->arena, bytes);
	memcpy(k.waits, c->into, c->d->nodes * sizeof *k.waits);
	k.next = numbers(c, c->d->active);
	k.stack = arena_alloc(c->arena, stack);
	memset(c->clock, 0, (size_t)c->d->nodes * c->d->active * sizeof *c->clock);
	for (uint32_t s = 0; s < c->d->active; s++) {
		k.next[s] = c->d->base[c->d->thread[s]];
		k.stack[k.depth++] = s;
	}
	while (k.depth)
		go_on(&k, k.stack[--k.depth]);
	arena_recycle(c->arena, k.waits, bytes);
	arena_recycle(c->arena, k.stack, stack);
	arena_recycle(c->arena, k.next, (c->d->active + (size_t)1) * sizeof *k.next);
	return k.done == c->d->nodes;
}

/* ---- The rules. ---- */

static uint32_t clock_at(const struct closure *c, uint32_t node, uint32_t slot)
{
	return c->clock[(size_t)node * c->d->active + slot];
}

static uint32_t place_of(const struct closure *c, uint32_t node)
{
	return node - c->d->base[ideal_step(c->d, node)->thread];
}

/* `before` comes before `after`, unless that is known. */
static void follow(struct closure *c, uint32_t before, uint32_t after)
{
	if (before == DONE)
		return;
	if (after == DONE || before == after)
		c->fails = true;
	else if (!closure_before(c, before, after))
		closure_add(c, before, after);
}

/* How many of the group's writes come before the node. */
static uint32_t writes_before(const struct closure *c, const struct group *g, uint32_t node)
{
	uint32_t low = g->from, high = g->to, limit = clock_at(c, node, g->slot);

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (place_of(c, c->write[middle]) < limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first of the group's writes that comes after the write w, or is w itself. */
static uint32_t writes_from(const struct closure *c, const struct group *g, uint32_t w)
{
	uint32_t low = g->from, high = g->to;

	if (w == DONE)
		return low;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (closure_before(c, w, c->write[middle]))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void apply_read(struct closure *c, uint32_t r, uint32_t w, const struct group *g)
{
	uint32_t last = writes_before(c, g, r), next = writes_from(c, g, w);

	if (last > g->from && c->write[last - 1] == r)
		last--;
	if (last > g->from && c->write[last - 1] != w)
		follow(c, c->write[last - 1], w);
	while (next < g->to && (c->write[next] == w || c->write[next] == r))
		next++;
	if (next < g->to)
		follow(c, r, c->write[next]);
}

static void apply_reads(struct closure *c)
{
	for (uint32_t v = 0; v < c->d->nodes; v++) {
		const struct step *s = ideal_step(c->d, v);

		for (uint32_t k = 0; k < s->locs && keeps(c, v); k++) {
			uint32_t x = closure_loc(c, s->object + k);

			for (uint32_t g = x == NO_STEP ? 0 : c->writes.first[x]; x != NO_STEP && g < c->writes.first[x + 1]; g++)
				apply_read(c, v, closure_source(c, s, k), &c->writes.at[g]);
		}
	}
}

static bool exclude(const struct section *a, const struct section *b)
{
	return !(a->shared && b->shared);
}

/* How many of the group's sections begin before the thread's node number `limit`. */
static uint32_t begun_before(const struct closure *c, const struct group *g, uint32_t limit)
{
	uint32_t low = g->from, high = g->to;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2, acquire = c->section[middle].acquire;

		if (acquire == DONE || place_of(c, acquire) < limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The last of the group's sections that keeps `s` out and must come before it; NULL: none must. */
static const struct section *last_before(const struct closure *c, const struct section *s, const struct group *g)
{
	uint32_t k = s->release == NO_STEP ? g->to : begun_before(c, g, clock_at(c, s->release, g->slot));

	while (k-- > g->from)
		if (exclude(s, &c->section[k]))
			return &c->section[k];
	return NULL;
}

static void apply_section(struct closure *c, const struct section *s, const struct group *g)
{
	const struct section *o;

	if (s->acquire == DONE)
		return;
	o = last_before(c, s, g);
	if (!o)
		return;
	if (o->release == NO_STEP)
		c->fails = true;
	else
		follow(c, o->release, s->acquire);
}

/* A section that the window finds open is over before anybody else's begins. */
static void apply_found_open(struct closure *c, const struct section *s, const struct group *g)
{
	for (uint32_t k = g->from; s->acquire == DONE && k < g->to; k++)
		if (exclude(s, &c->section[k])) {
			follow(c, s->release, c->section[k].acquire);
			return;
		}
}

static void apply_sections(struct closure *c)
{
	for (uint32_t m = 0; m < c->sections.count; m++)
		for (uint32_t i = c->sections.first[m]; i < c->sections.first[m + 1]; i++)
			for (uint32_t k = c->sections.first[m]; k < c->sections.first[m + 1]; k++)
				for (uint32_t s = c->sections.at[i].from; i != k && s < c->sections.at[i].to; s++) {
					apply_section(c, &c->section[s], &c->sections.at[k]);
					apply_found_open(c, &c->section[s], &c->sections.at[k]);
				}
}

bool closure_saturate(struct closure *c)
{
	size_t edges;

	do {
		edges = c->edges;
		if (!closure_sort(c))
			return false;
		apply_reads(c);
		apply_sections(c);
	} while (c->edges > edges && !c->fails && ++c->rounds < ROUNDS_MOST);
	return !c->fails && c->edges == edges;
}
