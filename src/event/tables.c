/* SPDX-License-Identifier: MIT */
#include "tables.h"

#include "base/arena.h"
#include "base/hash.h"

void tables_init(struct tables *t, struct arena *a)
{
	*t = (struct tables){.arena = a};
	for (int c = 0; c < TABLE_CLASSES; c++)
		intern_init(&t->names[c], a);
	seg_init(&t->frames, a, sizeof(struct stack_node));
	map_init(&t->frame_ids, a);
}

static bool same(struct frame a, struct frame b)
{
	return a.parent == b.parent && a.code == b.code && a.site == b.site;
}

/* Frames whose hashes collide hang on a chain from the newest to the oldest. */
stack_id tables_stack_slowly(struct tables *t, struct frame frame)
{
	uint32_t *head = map_put(&t->frame_ids, hash_bytes(&frame, sizeof frame));
	stack_id id;

	assert(frame.parent <= t->stacks);
	for (id = *head; id; id = tables_node(t, id)->older)
		if (same(tables_node(t, id)->frame, frame))
			return id;
	id = ++t->stacks;
	tables_node(t, id)->frame = frame;
	tables_node(t, id)->older = *head;
	tables_node(t, id)->same = frame.parent && tables_node(t, frame.parent)->frame.code == frame.code ?
		tables_node(t, frame.parent)->same + 1 : 1;
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
