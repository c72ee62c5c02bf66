/* SPDX-License-Identifier: MIT */
#include "random_events.h"

#include <stdbool.h>

#include "event/tables.h"

enum { NAME_MOST = 12 };

static bool chance(struct rng *r, uint32_t percent)
{
	return rng_below(r, 100) < percent;
}

static size_t random_name(struct rng *r, char to[NAME_MOST])
{
	static const char bytes[] = "abcxyz019_.:%|()=,#- \t~\xc3\xa9/0x";
	size_t n = 1 + rng_below(r, NAME_MOST);

	for (size_t i = 0; i < n; i++)
		to[i] = bytes[rng_below(r, sizeof bytes - 1)];
	return n;
}

static void random_module(struct rng *r, struct tables *t)
{
	char path[NAME_MOST];
	static const char *const build_ids[] = {"", "a1b2", "00ff00ff"};
	const char *id = build_ids[rng_below(r, 3)];
	size_t length = 0;

	while (id[length])
		length++;
	tables_module(t, (struct module){.path = {path, random_name(r, path)},
				 .build_id = {id, length},
				 .base = rng_next(r),
				 .size = rng_next(r) >> rng_below(r, 64)});
}

void random_tables(struct rng *r, struct tables *t, uint32_t most)
{
	char name[NAME_MOST];

	for (int class = TABLE_NONE + 1; class < TABLE_CLASSES; class ++)
		for (uint32_t n = 1 + rng_below(r, most); n > 0; n--)
			intern_add(&t->names[class], name, random_name(r, name));
	for (uint32_t n = rng_below(r, most + 1); n > 0; n--)
		tables_stack(t, (struct frame){.parent = rng_below(r, t->stacks + 1),
					.code = rng_below(r, t->names[TABLE_CODE].count + 1),
					.site = rng_below(r, t->names[TABLE_SITE].count + 1)});
	for (uint32_t n = rng_below(r, 3); n > 0; n--)
		random_module(r, t);
}

/* An id of the class. */
static uint32_t one_of(struct rng *r, const struct tables *t, enum table_class class)
{
	return 1 + rng_below(r, t->names[class].count);
}

/* Small and large numbers, both near zero and near the ends of the range. */
static uint64_t random_number(struct rng *r)
{
	uint64_t n = rng_next(r) >> rng_below(r, 64);

	return chance(r, 25) ? 0 - n : n;
}

static void random_value(struct rng *r, struct event *e)
{
	e->value = 0;
	e->flags &= (uint8_t) ~(EVENT_VALUED | EVENT_UNSIGNED);
	if (chance(r, 50))
		return;
	e->flags |= EVENT_VALUED;
	e->value = random_number(r);
	if (e->value > INT64_MAX && chance(r, 50))
		e->flags |= EVENT_UNSIGNED;
}

static void random_object(struct rng *r, const struct tables *t, struct event *e)
{
	enum table_class class = event_info[e->kind].table;

	if (e->flags & EVENT_ADDRESSED)
		e->object += chance(r, 70) ? 8 : random_number(r);
	else if (class != TABLE_NONE)
		e->object = one_of(r, t, class);
}

static void random_access(struct rng *r, struct event *e)
{
	if (chance(r, 50)) {
		e->flags |= EVENT_SIZED;
		e->size = 1 + (rng_below(r, EVENT_SIZE_MOST) >> rng_below(r, 24));
	}
	if (event_info[e->kind].shape == SHAPE_ATOMIC)
		e->order = (uint8_t)(1 + rng_below(r, ORDERS - 1));
	random_value(r, e);
}

/* What the kind has besides the object. */
static void random_parts(struct rng *r, const struct tables *t, struct event *e)
{
	switch (event_info[e->kind].shape) {
	case SHAPE_ACCESS:
	case SHAPE_ATOMIC: random_access(r, e); break;
	case SHAPE_TWO: e->mutex = one_of(r, t, TABLE_SYNC); break;
	case SHAPE_COUNT:
		e->count = e->kind == EVENT_BARRIER ? 1 + rng_below(r, 9) : random_number(r);
		break;
	case SHAPE_ORDER: e->order = (uint8_t)(1 + rng_below(r, ORDERS - 1)); break;
	case SHAPE_LABEL: e->object = chance(r, 30) ? 0 : e->object; break;
	default: break;
	}
}

static struct event random_new(struct rng *r, const struct tables *t)
{
	struct event e = {.kind = (uint8_t)(1 + rng_below(r, EVENT_KINDS - 1))};

	e.thread = one_of(r, t, TABLE_THREAD);
	if (event_info[e.kind].table == TABLE_OBJECT && chance(r, 50))
		e.flags = EVENT_ADDRESSED;
	e.site = chance(r, 90) ? one_of(r, t, TABLE_SITE) : 0;
	e.stack = rng_below(r, t->stacks + 1);
	random_object(r, t, &e);
	random_parts(r, t, &e);
	return e;
}

struct event random_event(struct rng *r, const struct tables *t, const struct event *before)
{
	struct event e;

	if (before->kind == EVENT_NONE || chance(r, 50)) {
		e = random_new(r, t);
		if (before->thread && chance(r, 70))
			e.thread = before->thread;
		return e;
	}
	e = *before;
	random_object(r, t, &e);
	if (event_is_access(e.kind))
		random_value(r, &e);
	return e;
}
