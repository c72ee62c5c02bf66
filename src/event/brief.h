/* SPDX-License-Identifier: MIT */
/*
 * Events in brief: accesses of a known size to addresses, and calls, of which nothing else is to be said. Nearly all of
 * a recording is that. It is handed on in rows, each of one thread: a quarter of an event's bytes, one call a row.
 *
 * A place in the code says the same each time that it is come by, but for the address. So an event in brief is that and
 * the number of the place; what the place says stands in a table of whoever makes the rows. Whoever takes them may note
 * there what it knows of the place, and need not look for it again: `note` is 0 when the place is another than before.
 */
#ifndef FISSION_EVENT_BRIEF_H
#define FISSION_EVENT_BRIEF_H

#include <stddef.h>

#include "event/event.h"

struct brief {
	uint64_t object; /* of an access: the address; of a call: the function */
	uint64_t place;
};

/* The kind is EVENT_READ, EVENT_WRITE, EVENT_ENTER or EVENT_EXIT. */
struct brief_place {
	uint64_t pc;   /* as in struct event */
	uint64_t key;  /* kind 8 | size of an access 8 | of an entry: where it is called from 48 */
	uint64_t note; /* of whoever takes the rows */
	site_id site;
	code_id code;  /* of an entry: the function */
};

/* A row: events of one thread, in order. */
struct briefs {
	thread_id thread;
	struct brief_place *place;
	const struct brief *at;
	size_t count;
	const struct brief *const *call; /* those of them that are calls, in order; some may be behind the row */
	size_t calls;
};

static inline uint8_t brief_kind(const struct briefs *b, const struct brief *e)
{
	return (uint8_t)b->place[e->place].key;
}

static inline struct event brief_event(const struct briefs *b, size_t i)
{
	const struct brief_place *p = &b->place[b->at[i].place];
	uint32_t size = (uint8_t)(p->key >> 8);

	return (struct event){
		.kind = (uint8_t)p->key, .flags = size ? EVENT_SIZED | EVENT_ADDRESSED : 0, .thread = b->thread,
		.object = b->at[i].object, .size = size, .site = p->site, .pc = p->pc,
	};
}

/*
 * Accesses of one thread, the same ones again and again: `at` is what each does the first time. Its address is the stride
 * further each time; or there are no strides, and `object` has the addresses of all events. `count` is the number of
 * events, which need not end with a whole round.
 */
struct brief_loop {
	thread_id thread;
	struct brief_place *place;
	const struct brief *at;
	const uint64_t *stride; /* by item; NULL: there are none */
	uint32_t items;
	uint64_t count;
	const uint64_t *object; /* by event, without strides */
};

static inline uint64_t brief_loop_object(const struct brief_loop *l, uint64_t i)
{
	return l->stride ? l->at[i % l->items].object + l->stride[i % l->items] * (i / l->items) : l->object[i];
}

static inline struct event brief_loop_event(const struct brief_loop *l, uint64_t i)
{
	struct brief b = {brief_loop_object(l, i), l->at[i % l->items].place};

	return brief_event(&(struct briefs){.thread = l->thread, .place = l->place, .at = &b, .count = 1}, 0);
}

/* The same row from number `from` on. */
static inline struct briefs briefs_from(const struct briefs *b, size_t from)
{
	struct briefs rest = *b;

	rest.at += from;
	rest.count -= from;
	for (; rest.calls && *rest.call < rest.at; rest.calls--)
		rest.call++;
	return rest;
}

#endif
