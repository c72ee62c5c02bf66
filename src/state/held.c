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
	bool shared = e->kind == EVENT_ACQUIRE_SHARED, alike;

	line->at = arena_reserve(h->arena, line->at, &line->capacity, line->count, sizeof *line->at);
	line->at[line->count++] = (struct held_lock){m, shared, mark_of(e), line->all, line->exclusive};
	alike = line->all == line->exclusive && !shared;
	line->all = lockset_add(&h->locksets, line->all, m);
	if (alike)
		line->exclusive = line->all;
	else if (!shared)
		line->exclusive = lockset_add(&h->locksets, line->exclusive, m);
}

static void remove_from(struct helds *h, lockset_id *all, lockset_id *exclusive, sync_id m)
{
	bool alike = *all == *exclusive;

	*all = lockset_remove(&h->locksets, *all, m);
	*exclusive = alike ? *all : lockset_remove(&h->locksets, *exclusive, m);
}

/* Mostly the lock that was taken last. */
void held_release(struct helds *h, const struct event *e)
{
	struct held *line = held_by(h, e->line);
	sync_id m = (sync_id)e->object;
	size_t i = line->count;

	while (i && line->at[i - 1].lock != m)
		i--;
	if (!i)
		return; /* a lenient run lets a lock go that was never taken */
	if (i == line->count) {
		line->all = line->at[i - 1].all;
		line->exclusive = line->at[i - 1].exclusive;
		line->count--;
		return;
	}
	memmove(&line->at[i - 1], &line->at[i], (line->count - i) * sizeof *line->at);
	line->count--;
	for (; i <= line->count; i++)
		remove_from(h, &line->at[i - 1].all, &line->at[i - 1].exclusive, m);
	remove_from(h, &line->all, &line->exclusive, m);
}
