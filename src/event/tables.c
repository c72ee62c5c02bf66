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
	t->memo = arena_alloc(a, STACK_MEMOS * sizeof *t->memo);
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
static stack_id stack_slowly(struct tables *t, struct frame frame)
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

_Static_assert(STACK_MEMOS == 1 << (32 - 20), "the upper bits of a hash are a memo's number");

static struct stack_memo *memo_of(const struct tables *t, struct frame f)
{
	return &t->memo[(f.parent * 0x9e3779b1u ^ f.code * 0x85ebca6bu ^ f.site * 0xc2b2ae35u) >> 20];
}

stack_id tables_stack(struct tables *t, struct frame frame)
{
	struct stack_memo *m = memo_of(t, frame);

	if (!m->stack || !same(m->frame, frame))
		*m = (struct stack_memo){frame, stack_slowly(t, frame)};
	return m->stack;
}

void tables_module(struct tables *t, struct module m)
{
	m.path.at = arena_text(t->arena, m.path.at, m.path.length);
	m.build_id.at = arena_text(t->arena, m.build_id.at, m.build_id.length);
	t->modules = arena_reserve(t->arena, t->modules, &t->module_capacity, t->module_count, sizeof m);
	t->modules[t->module_count++] = m;
}
