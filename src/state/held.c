/* SPDX-License-Identifier: MIT */
#include "held.h"

#include <string.h>

#include "base/arena.h"

void helds_init(struct helds *h, struct arena *a)
{
	h->arena = a;
	locksets_init(&h->locksets, a);
	seg_init(&h->line, a, sizeof(struct held));
}

const struct held_lock *held_find(const struct held *h, sync_id m)
{
	for (size_t i = h->count; i-- > 0;)
		if (h->at[i].lock == m)
			return &h->at[i];
	return NULL;
}

void held_acquire(struct helds *h, const struct event *e)
{
	struct held *line = held_by(h, e->line);
	sync_id m = (sync_id)e->object;
	bool shared = e->kind == EVENT_ACQUIRE_SHARED;

	line->at = arena_reserve(h->arena, line->at, &line->capacity, line->count, sizeof *line->at);
	line->at[line->count++] = (struct held_lock){m, shared, line->all, line->exclusive, mark_of(e)};
	if (!shared)
		line->exclusive = lockset_add(&h->locksets, line->exclusive, m);
	if (!shared && line->at[line->count - 1].all == line->at[line->count - 1].exclusive)
		line->all = line->exclusive;
	else
		line->all = lockset_add(&h->locksets, line->all, m);
}

static void remove_from(struct helds *h, lockset_id *all, lockset_id *exclusive, sync_id m)
{
	*all = lockset_remove(&h->locksets, *all, m);
	*exclusive = lockset_remove(&h->locksets, *exclusive, m);
}

/* Mostly the youngest lock goes first, and the sets are again what they were before it. */
void held_release(struct helds *h, const struct event *e)
{
	struct held *line = held_by(h, e->line);
	sync_id m = (sync_id)e->object;
	size_t i = line->count;

	while (i && line->at[i - 1].lock != m)
		i--;
	if (!i)
		return; /* a lenient run lets a lock go that was never taken */
	line->count--;
	if (i == line->count + 1) {
		line->all = line->at[i - 1].all;
		line->exclusive = line->at[i - 1].exclusive;
		return;
	}
	memmove(&line->at[i - 1], &line->at[i], (line->count + 1 - i) * sizeof *line->at);
	for (i--; i < line->count; i++)
		remove_from(h, &line->at[i].all, &line->at[i].exclusive, m);
	remove_from(h, &line->all, &line->exclusive, m);
}
