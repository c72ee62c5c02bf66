/* SPDX-License-Identifier: MIT */
#include "cells.h"

#include <assert.h>
#include <stdbool.h>

#include "base/arena.h"

enum { LINE = CELL_LINE };

void cells_init(struct cells *c, struct arena *a, struct cells_listener to)
{
	*c = (struct cells){.arena = a, .to = to};
	seg_init(&c->named, a, sizeof(uint64_t));
	map_init(&c->pages, a);
	seg_init(&c->page, a, sizeof(struct cell_page));
	seg_init(&c->line, a, sizeof(struct cell_line));
	seg_init(&c->origin, a, sizeof(struct cell_origin));
	c->hint = arena_alloc(a, CELL_HINTS * sizeof *c->hint);
}

static struct cell_origin *origin_at(struct cells *c, uint64_t x)
{
	return seg_at(&c->origin, x, sizeof(struct cell_origin));
}

static uint64_t variable_new(struct cells *c, uint64_t object, uint64_t mask)
{
	*origin_at(c, c->variables) = (struct cell_origin){object, mask};
	return c->variables++;
}

uint64_t cells_named_new(struct cells *c, uint64_t object)
{
	uint64_t x = variable_new(c, object, 0);

	*(uint64_t *)seg_at(&c->named, object, sizeof x) = x + 1;
	return x;
}

/* The page of the line, or NULL. */
static struct cell_page *page_of(struct cells *c, uint64_t line)
{
	uint32_t i = map_get(&c->pages, line / CELL_PAGE);

	return i ? seg_at(&c->page, i, sizeof(struct cell_page)) : NULL;
}

static struct cell_page *page_new(struct cells *c, uint64_t line)
{
	uint32_t i = (uint32_t)c->pages.count + 1;

	*map_put(&c->pages, line / CELL_PAGE) = i;
	return seg_at(&c->page, i, sizeof(struct cell_page));
}

struct cell_line *cells_find(struct cells *c, uint64_t line)
{
	struct cell_line *l = cells_hint(c, line);
	const struct cell_page *p;
	uint32_t i;

	if (l)
		return l;
	p = page_of(c, line);
	i = p ? p->line[line % CELL_PAGE] : 0;
	if (!i)
		return NULL;
	l = seg_at(&c->line, i, sizeof *l);
	c->hint[line % CELL_HINTS] = (struct cell_hint){line, l};
	return l;
}

static struct cell_line *line_new(struct cells *c, uint64_t line)
{
	struct cell_page *p = page_of(c, line);
	uint32_t i = ++c->line_count;

	if (!p)
		p = page_new(c, line);
	p->line[line % CELL_PAGE] = i;
	return seg_at(&c->line, i, sizeof(struct cell_line));
}

/* The bytes of the word are told apart from now on. */
static void mix(struct cells *c, struct cell_line *l, unsigned word)
{
	if (l->word[word] == CELL_MIXED)
		return;
	if (!l->byte)
		l->byte = arena_alloc(c->arena, CELL_LINE * sizeof *l->byte);
	for (unsigned i = 0; i < CELL_WORD; i++)
		l->byte[word * CELL_WORD + i] = l->word[word];
	l->word[word] = CELL_MIXED;
}

static void assign_word(struct cells *c, struct cell_line *l, unsigned word, unsigned bytes, uint32_t x)
{
	if (bytes == (1 << CELL_WORD) - 1) {
		l->word[word] = x;
		return;
	}
	mix(c, l, word);
	for (; bytes; bytes &= bytes - 1)
		l->byte[word * CELL_WORD + (unsigned)__builtin_ctz(bytes)] = x;
}

static void assign(struct cells *c, struct cell_line *l, uint64_t mask, uint64_t x)
{
	l->touched |= mask;
	for (unsigned word = 0; mask; word++, mask >>= CELL_WORD)
		if (mask & 15)
			assign_word(c, l, word, mask & 15, (uint32_t)x + 1);
}

/* The bytes of the mask that belong to the variable of its first byte; those that belong to none, if that does not. */
static inline uint64_t part_of(struct cells *c, const struct cell_line *l, uint64_t mask)
{
	uint32_t x = cell_at(l, (unsigned)__builtin_ctzll(mask));

	return x ? origin_at(c, x - 1)->mask & mask : mask & ~l->touched;
}

/* Divides the cells of the line so that each lies inside the mask or outside of it. */
static void divide(struct cells *c, struct cell_line *l, uint64_t line, uint64_t mask)
{
	for (uint64_t left = mask, part; left; left &= ~part) {
		uint32_t x = cell_at(l, (unsigned)__builtin_ctzll(left));
		uint64_t y;

		part = part_of(c, l, left);
		if (!x || part == origin_at(c, x - 1)->mask)
			continue;
		origin_at(c, x - 1)->mask &= ~part;
		y = variable_new(c, line * LINE, part);
		c->to.split(c->to.self, x - 1, y);
		assign(c, l, part, y);
	}
}

static void touch_parts(struct cells *c, struct cell_line *l, uint64_t line, uint64_t mask)
{
	divide(c, l, line, mask);
	for (uint64_t left = mask, part; left; left &= ~part) {
		part = part_of(c, l, left);
		if (!cell_at(l, (unsigned)__builtin_ctzll(left)))
			assign(c, l, part, variable_new(c, line * LINE, part));
		c->to.touch(c->to.self, cell_at(l, (unsigned)__builtin_ctzll(left)) - 1);
	}
}

/* Nearly always the bytes are just those of one cell. */
static void touch_line(struct cells *c, uint64_t line, uint64_t mask)
{
	struct cell_line *l = cells_find(c, line);
	uint32_t x;

	if (!l)
		l = line_new(c, line);
	x = cell_at(l, (unsigned)__builtin_ctzll(mask));
	if (__builtin_expect(x && origin_at(c, x - 1)->mask == mask, 1))
		c->to.touch(c->to.self, x - 1);
	else
		touch_parts(c, l, line, mask);
}

static void forget_line(struct cells *c, uint64_t line, uint64_t mask)
{
	struct cell_line *l = cells_find(c, line);

	if (!l)
		return;
	divide(c, l, line, mask);
	for (uint64_t left = mask, part; left; left &= ~part) {
		uint32_t x = cell_at(l, (unsigned)__builtin_ctzll(left));

		part = part_of(c, l, left);
		if (x)
			c->to.forget(c->to.self, x - 1);
	}
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

/* Those of the page's lines that the bytes have a part of. */
static void forget_page(struct cells *c, uint64_t page, uint64_t first, uint64_t last)
{
	uint64_t line = page * CELL_PAGE, end = line + CELL_PAGE - 1;

	line = line < first / LINE ? first / LINE : line;
	end = end > last / LINE ? last / LINE : end;
	for (; line <= end; line++)
		forget_line(c, line, mask_of(line, first, last));
}

/* A huge allocation has more pages than were ever touched: then those are looked through instead. */
void cells_alloc(struct cells *c, const struct event *e)
{
	uint64_t last, from, to;

	if (!(e->flags & EVENT_ADDRESSED) || e->count == 0)
		return;
	last = last_byte(e->object, e->count);
	from = e->object / LINE / CELL_PAGE;
	to = last / LINE / CELL_PAGE;
	if (to - from < c->pages.count) {
		for (uint64_t page = from; page <= to; page++)
			if (from == to || map_get(&c->pages, page))
				forget_page(c, page, e->object, last);
		return;
	}
	for (uint64_t i = 0; i <= c->pages.mask; i++) {
		struct map_entry m = c->pages.entry[i];

		if (m.used && m.key >= from && m.key <= to)
			forget_page(c, m.key, e->object, last);
	}
}

void cells_name(const struct cells *c, uint64_t x, struct event *e)
{
	const struct cell_origin *o = seg_hint(&c->origin, x, sizeof *o);

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
