/* SPDX-License-Identifier: MIT */
#include "tables.h"

#include <assert.h>

#include "base/arena.h"
#include "base/hash.h"

void tables_init(struct tables *t, struct arena *a)
{
	*t = (struct tables){.arena = a};
	for (int c = 0; c < TABLE_CLASSES; c++)
		intern_init(&t->names[c], a);
	seg_init(&t->frames, a, sizeof(struct frame));
	seg_init(&t->frame_older, a, sizeof(stack_id));
	map_init(&t->frame_ids, a);
}

struct frame tables_frame(const struct tables *t, stack_id stack)
{
	assert(stack > 0 && stack <= t->stacks);
	return *(const struct frame *)seg_hint(&t->frames, stack, sizeof(struct frame));
}

static bool same(struct frame a, struct frame b)
{
	return a.parent == b.parent && a.code == b.code && a.site == b.site;
}

/* Frames whose hashes collide hang on a chain from the newest to the oldest. */
stack_id tables_stack(struct tables *t, struct frame frame)
{
	uint32_t *head = map_put(&t->frame_ids, hash_bytes(&frame, sizeof frame));
	stack_id id;

	assert(frame.parent <= t->stacks);
	for (id = *head; id; id = *(stack_id *)seg_at(&t->frame_older, id, sizeof id))
		if (same(tables_frame(t, id), frame))
			return id;
	id = ++t->stacks;
	*(struct frame *)seg_at(&t->frames, id, sizeof frame) = frame;
	*(stack_id *)seg_at(&t->frame_older, id, sizeof id) = *head;
	*head = id;
	return id;
}

void tables_module(struct tables *t, struct module m)
{
	m.path.at = arena_text(t->arena, m.path.at, m.path.length);
	m.build_id.at = arena_text(t->arena, m.build_id.at, m.build_id.length);
	t->modules = arena_reserve(t->arena, t->modules, &t->module_capacity, t->module_count, sizeof m);
	t->modules[t->module_count++] = m;
}
