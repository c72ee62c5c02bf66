/* SPDX-License-Identifier: MIT */
#include "predict_trace.h"

#include <string.h>

#include "base/arena.h"
#include "base/rng.h"
#include "event/trace.h"
#include "legal.h"
#include "random_locks.h"
#include "random_trace.h"

/* Objects that no program of random_locks.h has. */
enum { SEMAPHORE = LEGAL_SYNCS - 3, CONDITION, BARRIER, ATOMIC = 4, OBJECTS = 64, TRIES = 400 };

struct draft {
	struct event at[RANDOM_LOCKS_MOST];
	size_t count;
};

static uint32_t add_name(struct tables *t, enum table_class class, const char *name)
{
	return intern_add(&t->names[class], name, strlen(name));
}

static void name_more(struct tables *t)
{
	while (add_name(t, TABLE_SYNC, (char[]){'y', (char)('0' + t->names[TABLE_SYNC].count), 0}) < BARRIER)
		continue;
	while (add_name(t, TABLE_OBJECT, (char[]){'z', (char)('0' + t->names[TABLE_OBJECT].count), 0}) < ATOMIC)
		continue;
}

static struct event other_event(struct rng *rng, thread_id thread)
{
	static const uint8_t kinds[] = {EVENT_SEM_POST, EVENT_SEM_POST, EVENT_SEM_WAIT, EVENT_ATOMIC_STORE, EVENT_ATOMIC_LOAD,
		EVENT_ATOMIC_RMW, EVENT_ATOMIC_RMW, EVENT_WAIT, EVENT_WAIT, EVENT_NOTIFY, EVENT_NOTIFY_ALL, EVENT_BARRIER};
	struct event e = {.kind = kinds[rng_below(rng, sizeof kinds)], .thread = thread, .object = SEMAPHORE};

	if (e.kind == EVENT_WAIT) {
		e.object = CONDITION;
		e.mutex = 1 + rng_below(rng, 3);
	} else if (e.kind == EVENT_NOTIFY || e.kind == EVENT_NOTIFY_ALL) {
		e.object = CONDITION;
	} else if (e.kind == EVENT_BARRIER) {
		e.object = BARRIER;
		e.count = 2;
	} else if (event_is_access(e.kind)) {
		e.object = 1 + rng_below(rng, ATOMIC);
		e.order = ORDER_SEQ_CST;
	}
	return e;
}

static void insert(struct draft *d, size_t at, struct event e)
{
	memmove(&d->at[at + 1], &d->at[at], (d->count - at) * sizeof e);
	e.site = d->at[at + 1].site;
	d->at[at] = e;
	d->count++;
}

/* Puts it before an event of its thread, a barrier with its partner; not if that makes it no trace. */
static void try_insert(struct draft *d, struct rng *rng)
{
	size_t at = rng_below(rng, (uint32_t)d->count);
	struct event e = other_event(rng, d->at[at].thread);
	struct draft before = *d;

	insert(d, at, e);
	if (e.kind == EVENT_BARRIER) {
		e.thread = e.thread % 2 + 1;
		insert(d, at + rng_below(rng, 2), e);
	}
	if (!legal_trace(d->at, d->count))
		*d = before;
}

static void draw(struct draft *d, struct tables *tables, uint64_t seed)
{
	struct rng rng = {~seed};
	struct random_locks p = random_locks_draw(seed, 14 + rng_below(&rng, 12));

	if (seed % 8 == 7) {
		d->count = random_trace(seed, tables, d->at);
		return;
	}
	p.locks = 1 + p.locks % 3;
	d->count = random_locks(&p, seed, tables, d->at);
	name_more(tables);
	for (int i = 0; seed % 4 && i < 8; i++)
		try_insert(d, &rng);
}

/* Blocks say nothing about which orders are possible, and cost room. */
static void drop_blocks(struct draft *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->count; i++)
		if (d->at[i].kind < EVENT_ENTER || d->at[i].kind > EVENT_END)
			d->at[kept++] = d->at[i];
	d->count = kept;
}

/* Named variables get values: writes one of three, reads what was written; in one trace of eight, none. */
static void give_values(struct draft *d, uint64_t seed)
{
	struct rng rng = {seed ^ 0xabcdef};
	uint64_t memory[OBJECTS] = {0};

	for (size_t i = 0; i < d->count; i++) {
		struct event *e = &d->at[i];

		e->seq = i + 1;
		if (!event_is_access(e->kind))
			continue;
		e->flags &= (uint8_t)~EVENT_VALUED;
		if (e->flags & EVENT_ADDRESSED || e->object >= OBJECTS || seed % 8 == 2)
			continue;
		e->flags |= EVENT_VALUED;
		if (!event_is_read(e->kind))
			memory[e->object] = rng_below(&rng, 3);
		e->value = memory[e->object];
	}
}

void predict_trace_make(struct predict_trace *t, struct arena *a, uint64_t seed)
{
	struct draft d;

	tables_init(&t->tables, a);
	draw(&d, &t->tables, seed);
	drop_blocks(&d);
	give_values(&d, seed);
	whole_init(&t->whole, a, &t->tables);
	whole_take(&t->whole, d.at, d.count);
}

static bool is_triple(const struct step *a, const struct step *x, const struct step *b)
{
	bool writes = step_writes(x) || (step_writes(a) && step_writes(b));

	return a->thread == b->thread && a->thread != x->thread && a->at < b->at && writes &&
	       (step_reads(a) || step_reads(x) || step_reads(b));
}

/* The block is said to begin with the thread's first event, which must not be e1 itself. */
bool predict_trace_triple(const struct predict_trace *t, struct rng *rng, struct instance *to)
{
	const struct whole *w = &t->whole;

	for (int i = 0; i < TRIES && w->steps; i++) {
		uint32_t b = rng_below(rng, w->steps), a = rng_below(rng, w->steps), x = rng_below(rng, w->steps), first = 0;
		uint32_t loc = w->step[b].object;

		if (!step_touches(&w->step[a], loc) || !step_touches(&w->step[x], loc) || !step_touches(&w->step[b], loc) ||
			!is_triple(&w->step[a], &w->step[x], &w->step[b]))
			continue;
		while (w->event[first].thread != w->event[w->step[a].event].thread)
			first++;
		*to = (struct instance){.first = a, .culprit = x, .second = b, .loc = loc, .block = {.seq = first + 1}};
		if (first < w->step[a].event && w->event[w->step[a].event].kind != EVENT_ALLOC &&
			w->event[w->step[x].event].kind != EVENT_ALLOC && w->event[w->step[b].event].kind != EVENT_ALLOC)
			return true;
	}
	return false;
}

void predict_trace_print(const struct predict_trace *t)
{
	struct trace_writer out;

	if (!trace_create(&out, &trace_text, "-", &t->tables, t->whole.arena))
		return;
	for (size_t i = 0; i < t->whole.count; i++)
		trace_put(&out, &t->whole.event[i]);
	trace_commit(&out);
}
