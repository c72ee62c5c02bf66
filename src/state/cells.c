/* SPDX-License-Identifier: MIT */
#include "cells.h"

#include <assert.h>
#include <stdbool.h>

#include "base/arena.h"
#include "event/event.h"

enum { LINE = 64 };

struct cell {
	uint64_t mask;     /* its bytes in the line */
	uint64_t variable;
	uint32_t next;     /* index of the next cell of the line, 0 for none */
};

/* A variable: a name, or bytes of a line. */
struct origin {
	uint64_t object; /* the name's id, or the line's address */
	uint64_t mask;   /* 0 for a name */
};

void cells_init(struct cells *c, struct arena *a, struct cells_listener to)
{
	*c = (struct cells){.arena = a, .to = to};
	seg_init(&c->named, a, sizeof(uint64_t));
	map_init(&c->lines, a);
	seg_init(&c->cell, a, sizeof(struct cell));
	seg_init(&c->origin, a, sizeof(struct origin));
}

static struct cell *cell_at(struct cells *c, uint32_t i)
{
	return seg_at(&c->cell, i, sizeof(struct cell));
}

static struct origin *origin_at(struct cells *c, uint64_t x)
{
	return seg_at(&c->origin, x, sizeof(struct origin));
}

static uint64_t variable_new(struct cells *c, uint64_t object, uint64_t mask)
{
	*origin_at(c, c->variables) = (struct origin){object, mask};
	return c->variables++;
}

uint64_t cells_named_new(struct cells *c, uint64_t object)
{
	uint64_t x = variable_new(c, object, 0);

	*(uint64_t *)seg_at(&c->named, object, sizeof x) = x + 1;
	return x;
}

static void cell_new(struct cells *c, uint64_t line, uint64_t mask, uint64_t variable)
{
	uint32_t i = ++c->cell_count;
	uint32_t *head = map_put(&c->lines, line);

	*cell_at(c, i) = (struct cell){mask, variable, *head};
	*head = i;
}

/* Divides the cells of the line so that each lies inside the mask or outside of it. */
static void divide(struct cells *c, uint64_t line, uint64_t mask)
{
	for (uint32_t i = map_get(&c->lines, line); i; i = cell_at(c, i)->next) {
		struct cell *old = cell_at(c, i);
		uint64_t part = old->mask & mask;

		if (part == 0 || part == old->mask)
			continue;
		old->mask &= ~mask;
		origin_at(c, old->variable)->mask = old->mask;
		uint64_t y = variable_new(c, line * LINE, part);
		c->to.split(c->to.self, old->variable, y);
		cell_new(c, line, part, y);
	}
}

/* The one with the lowest byte: what is told does not depend on which was touched first. Returns its bytes. */
static uint64_t touch_first(struct cells *c, uint64_t line, uint64_t mask)
{
	uint32_t i = map_get(&c->lines, line);

	while (!(cell_at(c, i)->mask & mask & -mask))
		i = cell_at(c, i)->next;
	c->to.touch(c->to.self, cell_at(c, i)->variable);
	return cell_at(c, i)->mask;
}

/* Most accesses touch what others have touched, and nothing else: then there is one cell. */
static bool touch_whole(struct cells *c, uint64_t line, uint64_t mask)
{
	for (uint32_t i = map_get(&c->lines, line); i;) {
		const struct cell *cell = cell_at(c, i);

		if (cell->mask == mask) {
			c->to.touch(c->to.self, cell->variable);
			return true;
		}
		i = cell->next;
	}
	return false;
}

static void touch_line(struct cells *c, uint64_t line, uint64_t mask)
{
	uint64_t missing = mask;

	if (touch_whole(c, line, mask))
		return;
	divide(c, line, mask);
	for (uint32_t i = map_get(&c->lines, line); i; i = cell_at(c, i)->next)
		missing &= ~cell_at(c, i)->mask;
	if (missing)
		cell_new(c, line, missing, variable_new(c, line * LINE, missing));
	while (mask)
		mask &= ~touch_first(c, line, mask);
}

static void forget_line(struct cells *c, uint64_t line, uint64_t mask)
{
	divide(c, line, mask);
	for (uint32_t i = map_get(&c->lines, line); i; i = cell_at(c, i)->next)
		if (cell_at(c, i)->mask & mask)
			c->to.forget(c->to.self, cell_at(c, i)->variable);
}

/* The bytes of [first, last] that lie in the line. */
static uint64_t mask_of(uint64_t line, uint64_t first, uint64_t last)
{
	unsigned from = line == first / LINE ? first % LINE : 0;
	unsigned to = line == last / LINE ? last % LINE : LINE - 1;

	return (~(uint64_t)0 << from) & (~(uint64_t)0 >> (LINE - 1 - to));
}

/* The last of n bytes from `first` on; memory ends at the largest address. */
static uint64_t last_byte(uint64_t first, uint64_t n)
{
	return n - 1 > UINT64_MAX - first ? UINT64_MAX : first + n - 1;
}

void cells_access(struct cells *c, const struct event *e)
{
	uint64_t last;

	if (!(e->flags & EVENT_ADDRESSED)) {
		c->to.touch(c->to.self, cells_named(c, e->object));
		return;
	}
	last = last_byte(e->object, e->flags & EVENT_SIZED ? e->size : 1);
	for (uint64_t line = e->object / LINE; line <= last / LINE; line++)
		touch_line(c, line, mask_of(line, e->object, last));
}

/* A huge allocation has more lines than were ever touched: then those are looked through instead. */
void cells_alloc(struct cells *c, const struct event *e)
{
	uint64_t last, n;

	if (!(e->flags & EVENT_ADDRESSED) || e->count == 0)
		return;
	last = last_byte(e->object, e->count);
	n = last / LINE - e->object / LINE;
	if (n < c->lines.count) {
		for (uint64_t line = e->object / LINE; line <= last / LINE; line++)
			forget_line(c, line, mask_of(line, e->object, last));
		return;
	}
	for (uint64_t i = 0; i <= c->lines.mask; i++) {
		struct map_entry m = c->lines.entry[i];

		if (m.used && m.value && m.key >= e->object / LINE && m.key <= last / LINE)
			forget_line(c, m.key, mask_of(m.key, e->object, last));
	}
}

void cells_name(const struct cells *c, uint64_t x, struct event *e)
{
	const struct origin *o = seg_hint(&c->origin, x, sizeof *o);

	assert(o && x < c->variables);
	e->flags &= (uint8_t)~(EVENT_ADDRESSED | EVENT_SIZED);
	e->object = o->object;
	e->size = 0;
	if (o->mask) {
		e->object += (uint64_t)__builtin_ctzll(o->mask);
		e->size = (uint32_t)__builtin_popcountll(o->mask);
		e->flags |= EVENT_ADDRESSED | EVENT_SIZED;
	}
}
