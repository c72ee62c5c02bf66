/* SPDX-License-Identifier: MIT */
/*
 * A trace grows by proposals: a random event of a random thread is taken if it is legal now. Which
 * kinds are proposed how often is one table; a kind belongs to a feature that the trace has or not.
 */
#include "random_trace.h"

#include <stdio.h>

#include "base/rng.h"
#include "event/event.h"
#include "event/tables.h"
#include "legal.h"

/* WINDOW: the bytes that the addresses of one trace lie in. */
enum { THREADS_MOST = 6, VARIABLES_MOST = 4, LOCKS_MOST = 3, WINDOW = 12 };

/* Ids of the names in TABLE_SYNC; locks are 1 to LOCKS_MOST. */
enum { CONDITION = LOCKS_MOST + 1, BARRIER, SEMAPHORE = BARRIER + 2, SYNCS = SEMAPHORE + 1 };

_Static_assert((int)THREADS_MOST < (int)LEGAL_THREADS && (int)SYNCS < (int)LEGAL_SYNCS,
	"more ids than legal.h takes");

enum feature {
	ALWAYS = 0,
	LOCKS = 1,
	SHARED = 2,
	BLOCKS = 4,
	FUNCTIONS = 8,
	FORKS = 16,
	ADDRESSES = 32,
	ALLOCS = 64,
	ATOMICS = 128,
	WAITS = 256,
	BARRIERS = 512,
	SEMAPHORES = 1024,
	NOISE = 2048,
	BUSY = 4096, /* accesses above all */
};

/* How many traces of eight have the feature. */
static const struct {
	enum feature feature;
	unsigned eighths;
} features[] = {{LOCKS, 6}, {SHARED, 2}, {BLOCKS, 7}, {FUNCTIONS, 4}, {FORKS, 2}, {ADDRESSES, 2},
	{ALLOCS, 4}, {ATOMICS, 1}, {WAITS, 3}, {BARRIERS, 1}, {SEMAPHORES, 1}, {NOISE, 1},
	{BUSY, 5}};

static const struct {
	enum event_kind kind;
	unsigned weight;
	unsigned needs; /* features, all of them */
} proposals[] = {
	{EVENT_READ, 4, ALWAYS},
	{EVENT_READ, 30, BUSY},
	{EVENT_WRITE, 2, ALWAYS},
	{EVENT_WRITE, 28, BUSY},
	{EVENT_ACQUIRE, 12, LOCKS},
	{EVENT_RELEASE, 28, LOCKS},
	{EVENT_ACQUIRE_SHARED, 8, LOCKS | SHARED},
	{EVENT_RELEASE_SHARED, 4, LOCKS | SHARED},
	{EVENT_FORK, 6, FORKS},
	{EVENT_JOIN, 4, FORKS},
	{EVENT_WAIT, 8, LOCKS | WAITS},
	{EVENT_NOTIFY, 1, WAITS | NOISE},
	{EVENT_NOTIFY_ALL, 1, WAITS | NOISE},
	{EVENT_BARRIER, 6, BARRIERS},
	{EVENT_SEM_WAIT, 5, SEMAPHORES},
	{EVENT_SEM_POST, 5, SEMAPHORES},
	{EVENT_ATOMIC_LOAD, 4, ATOMICS},
	{EVENT_ATOMIC_STORE, 3, ATOMICS},
	{EVENT_ATOMIC_RMW, 3, ATOMICS},
	{EVENT_ATOMIC_FENCE, 1, ATOMICS | NOISE},
	{EVENT_ALLOC, 2, ADDRESSES | ALLOCS},
	{EVENT_ALLOC, 1, NOISE},
	{EVENT_FREE, 1, NOISE},
	{EVENT_ENTER, 14, FUNCTIONS},
	{EVENT_EXIT, 6, FUNCTIONS},
	{EVENT_BEGIN, 24, BLOCKS},
	{EVENT_END, 6, BLOCKS},
};

/* Where the addresses of a trace lie: also across a page and across what fits into 32 bits. */
static const uint64_t bases[] = {0x1000, 0x1ffa, 0xfffffffc, 0x7ffffffffff8};

struct recipe {
	struct rng rng;
	struct tables *tables;
	unsigned features;
	uint32_t threads, variables, locks, parties;
	uint64_t base;
	bool unborn[LEGAL_THREADS]; /* waits for its fork */
	thread_id current;
	uint32_t codes; /* handed out so far */
	struct legal legal;
};

static uint32_t below(struct recipe *r, uint32_t n)
{
	return rng_below(&r->rng, n);
}

static uint32_t name(struct tables *t, enum table_class class, const char *prefix, uint32_t number)
{
	char text[32];
	int length = snprintf(text, sizeof text, "%s%u", prefix, (unsigned)number);

	return intern_add(&t->names[class], text, (size_t)length);
}

/* The ids follow from the order: threads and variables from 1, and the enum above. */
static void name_objects(struct tables *t)
{
	for (uint32_t i = 0; i < THREADS_MOST; i++)
		name(t, TABLE_THREAD, "T", i);
	for (uint32_t i = 0; i < VARIABLES_MOST; i++)
		name(t, TABLE_OBJECT, "x", i);
	for (uint32_t i = 0; i < LOCKS_MOST; i++)
		name(t, TABLE_SYNC, "m", i);
	name(t, TABLE_SYNC, "c", 0);
	for (uint32_t i = 0; i < 2; i++)
		name(t, TABLE_SYNC, "b", i);
	for (uint32_t i = 0; i < 2; i++)
		name(t, TABLE_SYNC, "s", i);
}

static void recipe_draw(struct recipe *r)
{
	for (size_t i = 0; i < sizeof features / sizeof *features; i++)
		if (below(r, 8) < features[i].eighths)
			r->features |= features[i].feature;
	r->threads = 2 + below(r, 1 + below(r, THREADS_MOST - 1));
	r->variables = 1 + below(r, 1 + below(r, VARIABLES_MOST));
	r->locks = 1 + below(r, LOCKS_MOST);
	r->parties = 2 + below(r, r->threads > 2 ? 2 : 1);
	r->base = bases[below(r, sizeof bases / sizeof *bases)];
	r->current = 1;
	for (thread_id t = 2; t <= r->threads; t++)
		r->unborn[t] = r->features & FORKS && below(r, 4) > 0;
}

static enum event_kind draw_kind(struct recipe *r)
{
	const size_t kinds = sizeof proposals / sizeof *proposals;
	uint32_t sum = 0, at;

	for (size_t i = 0; i < kinds; i++)
		if (!(proposals[i].needs & ~r->features))
			sum += proposals[i].weight;
	at = below(r, sum);
	for (size_t i = 0;; i++) {
		if (proposals[i].needs & ~r->features)
			continue;
		if (at < proposals[i].weight)
			return proposals[i].kind;
		at -= proposals[i].weight;
	}
}

/* The thread goes on now and then, or any one does. */
static thread_id draw_thread(struct recipe *r)
{
	thread_id t = below(r, 4) == 0 ? r->current : 1 + below(r, r->threads);

	return r->unborn[t] || !legal_runnable(&r->legal, t) ? 0 : t;
}

/* Mostly a named variable, or an address in a small window; each size but none now and then. */
static void draw_object(struct recipe *r, struct event *e)
{
	static const uint8_t sizes[] = {1, 2, 4, 4, 8, 8, 3, 16};

	if (!(r->features & ADDRESSES) || below(r, 8) == 0) {
		e->object = 1 + below(r, r->variables);
		return;
	}
	e->flags |= EVENT_ADDRESSED;
	e->object = r->base + below(r, WINDOW * r->variables / VARIABLES_MOST);
	if (event_is_access(e->kind) && below(r, 8) > 0) {
		e->flags |= EVENT_SIZED;
		e->size = sizes[below(r, sizeof sizes)];
	}
}

/* The innermost open function or block of the thread, or 0. */
static uint64_t innermost(const struct recipe *r, const struct event *e)
{
	const struct legal_thread *t = &r->legal.thread[e->thread];
	const struct legal_stack *s = e->kind == EVENT_EXIT ? &t->functions : &t->blocks;

	return s->depth ? s->code[s->depth - 1] : 0;
}

/* A lock that the thread holds, if a few draws hit on one. */
static uint64_t draw_held(struct recipe *r, thread_id t)
{
	uint32_t m = 1 + below(r, r->locks);

	for (int i = 0; i < 3 && !r->legal.sync[m].held[t]; i++)
		m = 1 + below(r, r->locks);
	return m;
}

/* One activation in another is interesting, five are not. */
static bool is_too_deep(struct recipe *r, const struct event *e)
{
	const struct legal_thread *t = &r->legal.thread[e->thread];
	size_t depth = e->kind == EVENT_ENTER ? t->functions.depth : t->blocks.depth;

	return (e->kind == EVENT_ENTER || e->kind == EVENT_BEGIN) && 2 * depth > below(r, 6);
}

static void draw_barrier(struct recipe *r, struct event *e)
{
	e->object = BARRIER + below(r, 2);
	e->count = below(r, 16) ? r->parties : 1 + below(r, 3);
}

static void draw_wait(struct recipe *r, struct event *e)
{
	e->object = CONDITION;
	e->mutex = draw_held(r, e->thread);
}

/* Fills in what the kind needs. */
static void draw_arguments(struct recipe *r, struct event *e)
{
	switch (e->kind) {
	case EVENT_ACQUIRE:
	case EVENT_ACQUIRE_SHARED: e->object = 1 + below(r, r->locks); break;
	case EVENT_RELEASE:
	case EVENT_RELEASE_SHARED: e->object = draw_held(r, e->thread); break;
	case EVENT_FORK:
	case EVENT_JOIN: e->object = 1 + below(r, r->threads); break;
	case EVENT_WAIT: draw_wait(r, e); break;
	case EVENT_NOTIFY:
	case EVENT_NOTIFY_ALL: e->object = CONDITION; break;
	case EVENT_BARRIER: draw_barrier(r, e); break;
	case EVENT_SEM_WAIT:
	case EVENT_SEM_POST: e->object = SEMAPHORE + below(r, 2); break;
	case EVENT_ATOMIC_FENCE: break;
	case EVENT_ENTER:
	case EVENT_BEGIN: e->object = r->codes + 1; break;
	case EVENT_EXIT:
	case EVENT_END: e->object = innermost(r, e); break;
	default: draw_object(r, e); break;
	}
	if (e->kind == EVENT_ALLOC)
		e->count = below(r, WINDOW + 1);
	if (event_info[e->kind].shape == SHAPE_ATOMIC || event_info[e->kind].shape == SHAPE_ORDER)
		e->order = (uint8_t)(ORDER_RELAXED + below(r, ORDERS - ORDER_RELAXED));
}

/* What follows from an event that was taken. */
static void recipe_take(struct recipe *r, struct event *e, size_t index)
{
	e->seq = index + 1;
	e->site = name(r->tables, TABLE_SITE, "t.c:", (uint32_t)index + 1);
	r->current = e->thread;
	if (e->kind == EVENT_FORK)
		r->unborn[e->object] = false;
	if (e->kind == EVENT_ENTER || e->kind == EVENT_BEGIN)
		r->codes =
			name(r->tables, TABLE_CODE, e->kind == EVENT_ENTER ? "f" : "a", r->codes);
}

size_t random_trace(uint64_t seed, struct tables *tables, struct event *events)
{
	struct recipe r = {.rng = {seed}, .tables = tables};
	size_t n = 0, length;

	name_objects(tables);
	recipe_draw(&r);
	length = 10 + below(&r, RANDOM_TRACE_MOST - 9);
	for (size_t tries = 0; n < length && tries < 16 * length; tries++) {
		struct event *e = &events[n];

		*e = (struct event){.thread = draw_thread(&r)};
		if (!e->thread)
			continue;
		e->kind = (uint8_t)draw_kind(&r);
		draw_arguments(&r, e);
		if (!is_too_deep(&r, e) && legal_step(&r.legal, e))
			recipe_take(&r, e, n++);
	}
	return n;
}
