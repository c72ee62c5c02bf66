/* SPDX-License-Identifier: MIT */
#include "guards.h"

#include "base/arena.h"

void guards_init(struct guards *g, struct arena *a, struct locksets *sets)
{
	*g = (struct guards){.sets = sets};
	seg_init(&g->guard, a, sizeof(struct guard_entry));
	map_init(&g->by_content, a);
}

static void entry_fill(struct guards *g, struct guard_entry *e, struct guard content)
{
	e->content = content;
	e->all = lockset_of(g->sets, content.all);
	e->exclusive = lockset_of(g->sets, content.exclusive);
	if (e->all.count > GUARD_FEW)
		return;
	for (uint32_t i = 0; i < e->all.count; i++)
		e->few[i] = e->all.lock[i];
	e->all.lock = e->few;
	if (content.all == content.exclusive)
		e->exclusive = e->all;
}

guard_id guard_of(struct guards *g, struct guard content)
{
	uint32_t *id;

	if (!content.all)
		return 0;
	id = map_put(&g->by_content, (uint64_t)content.all << 32 | content.exclusive);
	if (!*id) {
		*id = ++g->count;
		entry_fill(g, seg_at(&g->guard, *id, sizeof(struct guard_entry)), content);
	}
	return *id;
}

guard_id guard_add(struct guards *g, guard_id of, sync_id m, bool shared)
{
	struct guard c = guard_content(g, of);
	bool alike = c.all == c.exclusive && !shared;

	c.all = lockset_add(g->sets, c.all, m);
	if (alike)
		c.exclusive = c.all;
	else if (!shared)
		c.exclusive = lockset_add(g->sets, c.exclusive, m);
	return guard_of(g, c);
}

guard_id guard_remove(struct guards *g, guard_id of, sync_id m)
{
	struct guard c = guard_content(g, of);

	c.all = lockset_remove(g->sets, c.all, m);
	c.exclusive = lockset_remove(g->sets, c.exclusive, m);
	return guard_of(g, c);
}

guard_id guard_meet(struct guards *g, guard_id a, guard_id b)
{
	struct guard x = guard_content(g, a), y = guard_content(g, b);

	return guard_of(g, (struct guard){
		lockset_meet(g->sets, x.all, y.all), lockset_meet(g->sets, x.exclusive, y.exclusive)});
}

static const struct guard_entry *entry_of(struct guards *g, guard_id id)
{
	return seg_at(&g->guard, id, sizeof(struct guard_entry));
}

/* Whether the sets have a lock in common. */
static bool touch(const struct lockset *a, const struct lockset *b)
{
	for (uint32_t i = 0, j = 0; i < a->count && j < b->count;) {
		if (a->lock[i] == b->lock[j])
			return true;
		if (a->lock[i] < b->lock[j])
			i++;
		else
			j++;
	}
	return false;
}

static bool within(const struct lockset *a, const struct lockset *b)
{
	uint32_t i = 0;

	for (uint32_t j = 0; i < a->count && j < b->count && b->lock[j] <= a->lock[i]; j++)
		i += b->lock[j] == a->lock[i];
	return i == a->count;
}

bool guard_excludes_slowly(struct guards *g, guard_id a, guard_id b)
{
	const struct guard_entry *x = entry_of(g, a), *y = entry_of(g, b);

	return touch(&x->all, &y->exclusive) ||
	       (y->content.all != y->content.exclusive && touch(&x->exclusive, &y->all));
}

bool guard_within_slowly(struct guards *g, guard_id a, guard_id b)
{
	const struct guard_entry *x = entry_of(g, a), *y = entry_of(g, b);
	bool plain = x->content.all == x->content.exclusive && y->content.all == y->content.exclusive;

	return within(&x->all, &y->all) && (plain || within(&x->exclusive, &y->exclusive));
}
