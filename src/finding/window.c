/* SPDX-License-Identifier: MIT */
#include "window.h"

#include <string.h>

#include "event/place.h"
#include "policy/rank.h"

static stack_id parent_of(const struct tables *t, stack_id s)
{
	return tables_frame(t, s).parent;
}

static uint32_t depth_of(const struct tables *t, stack_id s)
{
	uint32_t depth = 0;

	for (; s; s = parent_of(t, s))
		depth++;
	return depth;
}

/* The innermost frame that both stacks have; 0 if they have none in common. Equal stacks have equal ids. */
static stack_id common(const struct tables *t, stack_id a, stack_id b)
{
	uint32_t depth_a, depth_b;

	if (a == b)
		return a;
	depth_a = depth_of(t, a);
	depth_b = depth_of(t, b);
	for (; depth_a > depth_b; depth_a--)
		a = parent_of(t, a);
	for (; depth_b > depth_a; depth_b--)
		b = parent_of(t, b);
	while (a != b) {
		a = parent_of(t, a);
		b = parent_of(t, b);
	}
	return a;
}

/* Where the stack goes on above `base`: the call that base makes; 0 if it stands in base itself, or has no base. */
static stack_id above(const struct tables *t, stack_id s, stack_id base)
{
	stack_id call = 0;

	while (s && s != base) {
		call = s;
		s = parent_of(t, s);
	}
	return s == base ? call : 0;
}

static bool has_base(const struct tables *t, stack_id s, stack_id base)
{
	while (s && s != base)
		s = parent_of(t, s);
	return s == base;
}

static site_id place_in(const struct tables *t, const struct window_end *e, stack_id base)
{
	stack_id call = above(t, e->stack, base);

	return call ? tables_frame(t, call).site : e->site;
}

static bool is_before(const struct tables *t, site_id a, site_id b)
{
	struct place_parts p = place_parse(tables_name(t, TABLE_SITE, a)), q = place_parse(tables_name(t, TABLE_SITE, b));

	return p.line && q.line && p.line < q.line && p.file.length == q.file.length &&
	       memcmp(p.file.at, q.file.at, p.file.length) == 0;
}

/* Whether one statement may do both: `x++` reads and then writes, `x + y` reads two variables. No loop, then. */
static bool is_statement(const struct window_end *first, const struct window_end *second)
{
	if (!event_is_access(first->kind) || !event_is_access(second->kind))
		return false;
	return first->object != second->object || (event_is_read(first->kind) && !event_is_read(second->kind));
}

static uint32_t loop(const struct tables *t, const struct window_end *first, const struct window_end *second)
{
	stack_id base = common(t, first->stack, second->stack);
	site_id a = place_in(t, first, base), b = place_in(t, second, base);

	if (!a || !b)
		return 0;
	if (a == b)
		return first->stack == second->stack && !is_statement(first, second) ? FACT_SAME_SITE : 0;
	return is_before(t, b, a) ? FACT_BACKWARD : 0;
}

/* The block's frame on the stack; a judge that keeps no stacks gives none, and then it goes by the function. */
static stack_id frame_of(const struct tables *t, const struct block *b, stack_id s)
{
	if (b->stack || !b->code)
		return b->stack;
	while (s && tables_frame(t, s).code != b->code)
		s = parent_of(t, s);
	return s;
}

/* The call in which all of the end is; 0 if it is the block's own code. A lock may be taken and released in calls. */
static stack_id callee(const struct tables *t, const struct window_end *e, stack_id base)
{
	stack_id call = above(t, e->stack, base);

	return call == above(t, e->last, base) ? call : 0;
}

static uint32_t calls(const struct tables *t, const struct block *b, const struct window_end *first,
	const struct window_end *second)
{
	stack_id base = frame_of(t, b, first->stack), f, s;

	if (!base || !has_base(t, first->stack, base) || !has_base(t, second->stack, base))
		return 0;
	f = callee(t, first, base);
	s = callee(t, second, base);
	if (!f && !s)
		return FACT_DIRECT;
	return f && s && f != s ? FACT_CALLEES : 0;
}

uint32_t window_shape(const struct tables *t, const struct block *b, const struct window_end *first,
	const struct window_end *second)
{
	return loop(t, first, second) | calls(t, b, first, second);
}

site_id window_place(const struct tables *t, const struct block *b, const struct window_end *e)
{
	stack_id base = frame_of(t, b, e->stack);

	return base && has_base(t, e->stack, base) ? place_in(t, e, base) : 0;
}

uint32_t window_shape_of(const struct tables *t, const struct finding *f)
{
	struct window_end first = window_end_of(&f->path[0].from), second = window_end_of(&f->path[f->links - 1].to);

	return window_shape(t, &f->block, &first, &second);
}
