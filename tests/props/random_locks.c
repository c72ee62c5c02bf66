/* SPDX-License-Identifier: MIT */
/*
 * First the program: what each thread does, drawn piece by piece within an allowance of events that keeps back what is
 * needed to close all that is open. Then the schedule: a random thread that can go on does. If that gets stuck a few
 * times, threads run as far as they can one after the other, which never does: a thread that runs alone closes what it
 * opens, and whoever joins holds nothing.
 */
#include "random_locks.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "event/event.h"
#include "event/tables.h"
#include "legal.h"

enum { THREADS_MOST = 3, VARIABLES_MOST = 3, LOCKS_MOST = 3, SCHEDULES = 20 };

_Static_assert(
	(int)THREADS_MOST < (int)LEGAL_THREADS && (int)LOCKS_MOST < (int)LEGAL_SYNCS, "more ids than legal.h takes");

enum side { FREE, SHARED, EXCLUSIVE };

/* One thread while its part of the program is drawn. */
struct script {
	struct event event[RANDOM_LOCKS_MOST];
	size_t count, allowed;
	size_t owed; /* events that will close what is open */
	enum side side[LOCKS_MOST + 1];
};

struct draft {
	const struct random_locks *p;
	struct rng rng;
	struct tables *tables;
	uint32_t codes;
	struct script script[THREADS_MOST + 1]; /* by thread */
};

static uint32_t below(struct draft *d, uint32_t n)
{
	return rng_below(&d->rng, n);
}

static bool has(const struct draft *d, enum random_locks_flag flag)
{
	return (d->p->flags & flag) != 0;
}

static uint32_t name(struct tables *t, enum table_class class, const char *prefix, uint32_t number)
{
	char text[32];
	int length = snprintf(text, sizeof text, "%s%u", prefix, (unsigned)number);

	return intern_add(&t->names[class], text, (size_t)length);
}

/* The ids follow from the order, each class from 1. */
static void name_objects(struct tables *t)
{
	for (uint32_t i = 0; i < THREADS_MOST; i++)
		name(t, TABLE_THREAD, "T", i);
	for (uint32_t i = 0; i < VARIABLES_MOST; i++)
		name(t, TABLE_OBJECT, "x", i);
	for (uint32_t i = 0; i < LOCKS_MOST; i++)
		name(t, TABLE_SYNC, "m", i);
}

/* ---- The program. ---- */

static bool fits(const struct script *s, size_t events)
{
	return s->count + s->owed + events <= s->allowed;
}

static void put(struct draft *d, thread_id t, enum event_kind kind, uint64_t object)
{
	struct script *s = &d->script[t];

	s->event[s->count++] = (struct event){.kind = (uint8_t)kind, .thread = t, .object = object};
}

/* Opens an activation or a block and returns its name. */
static uint64_t put_open(struct draft *d, thread_id t, enum event_kind kind)
{
	d->codes = name(d->tables, TABLE_CODE, kind == EVENT_ENTER ? "f" : "a", d->codes);
	put(d, t, kind, d->codes);
	d->script[t].owed++;
	return d->codes;
}

static void put_close(struct draft *d, thread_id t, enum event_kind kind, uint64_t object)
{
	d->script[t].owed--;
	put(d, t, kind, object);
}

static uint64_t lock_of(const struct draft *d, uint64_t variable)
{
	return 1 + (variable - 1) % d->p->locks;
}

static bool may_access(const struct draft *d, const struct script *s, uint64_t variable, bool write)
{
	return !has(d, RANDOM_LOCKS_GUARDED) || s->side[lock_of(d, variable)] >= (write ? EXCLUSIVE : SHARED);
}

/* Whether the thread, which holds what it holds, may have the lock as well. */
static bool may_acquire(const struct draft *d, const struct script *s, uint64_t lock)
{
	for (uint64_t m = 1; m <= d->p->locks; m++) {
		if (!s->side[m] || m == lock)
			continue;
		if (!has(d, RANDOM_LOCKS_NESTED) || (has(d, RANDOM_LOCKS_ORDERED) && m > lock && !s->side[lock]))
			return false;
	}
	return !s->side[lock] || has(d, RANDOM_LOCKS_NESTED);
}

/* An access in a section of its own. */
static void put_guarded(struct draft *d, thread_id t, uint64_t x, bool write)
{
	bool shared = !write && has(d, RANDOM_LOCKS_READERS) && below(d, 2);
	uint64_t m = lock_of(d, x);

	put(d, t, shared ? EVENT_ACQUIRE_SHARED : EVENT_ACQUIRE, m);
	put(d, t, write ? EVENT_WRITE : EVENT_READ, x);
	put(d, t, shared ? EVENT_RELEASE_SHARED : EVENT_RELEASE, m);
}

/* None, if the variable's guard cannot be had here. */
static void draw_access(struct draft *d, thread_id t)
{
	uint32_t variables = has(d, RANDOM_LOCKS_ONE_VARIABLE) ? 1 : d->p->variables;
	struct script *s = &d->script[t];
	uint64_t x = 1 + below(d, variables);
	bool write = below(d, 2);

	if (may_access(d, s, x, write)) {
		if (fits(s, 1))
			put(d, t, write ? EVENT_WRITE : EVENT_READ, x);
		return;
	}
	if (!s->side[lock_of(d, x)] && may_acquire(d, s, lock_of(d, x)) && fits(s, 3))
		put_guarded(d, t, x, write);
}

static void draw_body(struct draft *d, thread_id t, uint32_t accesses);

/* What is held already is acquired again by the same side. */
static void draw_section(struct draft *d, thread_id t, uint32_t accesses)
{
	struct script *s = &d->script[t];
	uint64_t m = 1 + below(d, d->p->locks);
	enum side before = s->side[m];

	if (!may_acquire(d, s, m) || !fits(s, 3)) {
		draw_access(d, t);
		return;
	}
	if (!before)
		s->side[m] = has(d, RANDOM_LOCKS_READERS) && below(d, 2) ? SHARED : EXCLUSIVE;
	put(d, t, s->side[m] == SHARED ? EVENT_ACQUIRE_SHARED : EVENT_ACQUIRE, m);
	s->owed++;
	draw_body(d, t, accesses);
	put_close(d, t, s->side[m] == SHARED ? EVENT_RELEASE_SHARED : EVENT_RELEASE, m);
	s->side[m] = before;
}

static void draw_call(struct draft *d, thread_id t, uint32_t accesses)
{
	uint64_t f;

	if (!fits(&d->script[t], 3)) {
		draw_body(d, t, accesses);
		return;
	}
	f = put_open(d, t, EVENT_ENTER);
	draw_body(d, t, accesses);
	put_close(d, t, EVENT_EXIT, f);
}

/* A row of pieces that have the accesses between them. */
static void draw_body(struct draft *d, thread_id t, uint32_t accesses)
{
	while (accesses > 0) {
		uint32_t share = 1 + below(d, accesses), dice = below(d, 8);

		if (d->p->locks && dice < 4)
			draw_section(d, t, share);
		else if (has(d, RANDOM_LOCKS_FUNCTIONS) && dice == 7 && share > 1)
			draw_call(d, t, share - 1);
		else
			draw_access(d, t);
		accesses -= d->p->locks && dice < 4 ? share : 1;
	}
}

static void draw_transaction(struct draft *d, thread_id t)
{
	struct script *s = &d->script[t];
	bool declared = !has(d, RANDOM_LOCKS_OUTSIDE) || below(d, 3) > 0;
	bool called = has(d, RANDOM_LOCKS_FUNCTIONS) && below(d, 2) && fits(s, 5);
	uint64_t f = called ? put_open(d, t, EVENT_ENTER) : 0, a = 0;

	if (declared && fits(s, 3))
		a = put_open(d, t, EVENT_BEGIN);
	draw_body(d, t, 1 + below(d, d->p->accesses));
	if (a)
		put_close(d, t, EVENT_END, a);
	if (called)
		put_close(d, t, EVENT_EXIT, f);
}

static void draw_thread(struct draft *d, thread_id t)
{
	struct script *s = &d->script[t];
	size_t forks = t == 1 && has(d, RANDOM_LOCKS_FORKS) ? d->p->threads - 1 : 0;

	s->allowed = d->p->events / d->p->threads;
	s->owed = 2 * forks;
	if (forks && below(d, 3) == 0 && fits(s, 3))
		draw_transaction(d, t);
	for (uint32_t u = 2; u < 2 + forks; u++)
		put_close(d, t, EVENT_FORK, u);
	for (uint32_t i = 1 + below(d, d->p->transactions); i > 0 && fits(s, 3); i--)
		draw_transaction(d, t);
	for (uint32_t u = 2; u < 2 + forks; u++)
		put_close(d, t, EVENT_JOIN, u);
	if (forks && below(d, 3) == 0 && fits(s, 3))
		draw_transaction(d, t);
}

/* ---- The schedule. ---- */

struct schedule {
	struct legal legal;
	size_t done[THREADS_MOST + 1];
	bool forked[THREADS_MOST + 1];
};

/* Does the thread's next event if it can. */
static bool go_on(struct schedule *s, const struct draft *d, thread_id t, struct event *to)
{
	const struct script *script = &d->script[t];
	const struct event *e = &script->event[s->done[t]];

	if (s->done[t] == script->count || (has(d, RANDOM_LOCKS_FORKS) && t > 1 && !s->forked[t]))
		return false;
	if (e->kind == EVENT_JOIN && s->done[e->object] < d->script[e->object].count)
		return false;
	if (!legal_step(&s->legal, e))
		return false;
	if (e->kind == EVENT_FORK)
		s->forked[e->object] = true;
	s->done[t]++;
	*to = *e;
	return true;
}

static size_t events_in_all(const struct draft *d)
{
	size_t sum = 0;

	for (thread_id t = 1; t <= d->p->threads; t++)
		sum += d->script[t].count;
	return sum;
}

/* Any thread that can, or, in turn, each as long as it can. Whether that gets to the end. */
static bool run(struct draft *d, bool in_turn, struct event *events)
{
	size_t n = 0, length = events_in_all(d), idle = 0;
	struct schedule s = {.done = {0}};
	thread_id t = 1;

	while (n < length && idle < 64) {
		if (!in_turn)
			t = 1 + below(d, d->p->threads);
		if (go_on(&s, d, t, &events[n])) {
			n++;
			idle = 0;
		} else {
			idle++;
			t = t % d->p->threads + 1;
		}
	}
	return n == length;
}

size_t random_locks(const struct random_locks *p, uint64_t seed, struct tables *tables, struct event *events)
{
	struct draft d = {.p = p, .rng = {seed}, .tables = tables};
	size_t n;
	int tries = 0;

	name_objects(tables);
	for (thread_id t = 1; t <= p->threads; t++)
		draw_thread(&d, t);
	while (tries < SCHEDULES && !run(&d, false, events))
		tries++;
	if (tries == SCHEDULES)
		run(&d, true, events);
	n = events_in_all(&d);
	for (uint32_t i = 0; i < n; i++) {
		events[i].seq = i + 1;
		events[i].site = name(tables, TABLE_SITE, "t.c:", i + 1);
	}
	return n;
}

struct random_locks random_locks_draw(uint64_t seed, unsigned events)
{
	struct rng rng = {seed};
	struct random_locks p = {.events = events};

	p.threads = 2 + rng_below(&rng, 2);
	p.transactions = 1 + rng_below(&rng, 3);
	p.accesses = 1 + rng_below(&rng, 5);
	p.variables = 1 + rng_below(&rng, VARIABLES_MOST);
	p.locks = rng_below(&rng, LOCKS_MOST + 1);
	p.flags = rng_below(&rng, 2 * RANDOM_LOCKS_OUTSIDE);
	if (p.locks == 0)
		p.flags &= ~(unsigned)RANDOM_LOCKS_GUARDED;
	return p;
}
