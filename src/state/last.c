/* SPDX-License-Identifier: MIT */
#include "last.h"

#include <string.h>

#include "base/arena.h"

enum { FIRST_CAPACITY = 4 };

static struct mark *place_of(struct mark *table, uint32_t capacity, uint32_t line)
{
	uint32_t i = line & (capacity - 1);

	while (table[i].at && mark_line(&table[i]) != line)
		i = (i + 1) & (capacity - 1);
	return &table[i];
}

static void grow(struct last *l, struct arena *a)
{
	uint32_t old = l->readers.capacity;
	struct mark *from = l->readers.table;
	struct mark *to = arena_alloc(a, 2 * old * sizeof *to);

	for (uint32_t i = 0; i < old; i++)
		if (from[i].at)
			*place_of(to, 2 * old, mark_line(&from[i])) = from[i];
	arena_recycle(a, from, old * sizeof *from);
	l->readers.table = to;
	l->readers.capacity = 2 * old;
}

static void begin_many(struct last *l, struct arena *a)
{
	struct mark first = l->read;

	l->readers.many = LAST_MANY;
	l->readers.table = arena_alloc(a, FIRST_CAPACITY * sizeof first);
	l->readers.capacity = FIRST_CAPACITY;
	l->readers.count = 1;
	*place_of(l->readers.table, FIRST_CAPACITY, mark_line(&first)) = first;
}

void last_read_many(struct last *l, struct arena *a, struct mark m)
{
	struct mark *place;

	if (l->read.at != LAST_MANY)
		begin_many(l, a);
	place = place_of(l->readers.table, l->readers.capacity, mark_line(&m));
	if (!place->at) {
		if (++l->readers.count * 2 > l->readers.capacity) {
			grow(l, a);
			place = place_of(l->readers.table, l->readers.capacity, mark_line(&m));
		}
	}
	*place = m;
}

void last_clear(struct last *l, struct arena *a)
{
	arena_recycle(a, l->readers.table, l->readers.capacity * sizeof(struct mark));
	memset(&l->read, 0, sizeof l->read);
}

void last_copy(struct last *to, const struct last *from, struct arena *a)
{
	*to = *from;
	if (from->read.at != LAST_MANY)
		return;
	to->readers.table = arena_alloc(a, from->readers.capacity * sizeof(struct mark));
	memcpy(to->readers.table, from->readers.table, from->readers.capacity * sizeof(struct mark));
}

void last_reset(struct last *l, struct arena *a)
{
	if (l->read.at == LAST_MANY)
		last_clear(l, a);
	memset(l, 0, sizeof *l);
}
