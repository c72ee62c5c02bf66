/* SPDX-License-Identifier: MIT */
/*
 * Writes text traces. What trace_text.c reads from the result is the same events, names, stacks and modules.
 *
 * A stack or module is written as its line before the first event behind which it is known, so that a trace can
 * be written while it is read.
 */
#include "trace_text.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/str.h"
#include "event/text_names.h"
#include "event/trace.h"

struct text_writer {
	struct str line;
	stack_id stacks; /* written so far */
	size_t modules;
};

static void add_name(struct str *to, const struct tables *tables, enum table_class class, uint32_t id,
	bool commas)
{
	struct text t = tables_name(tables, class, id);

	text_escape(to, t.at, t.length, text_name_class, commas);
}

static void add_place(struct str *to, const struct tables *tables, site_id site)
{
	struct text t = tables_name(tables, TABLE_SITE, site);

	text_escape(to, t.at, t.length, text_place_class, false);
}

static void add_object(struct str *to, const struct tables *tables, const struct event *e)
{
	if (e->flags & EVENT_ADDRESSED)
		str_printf(to, "0x%" PRIx64, e->object);
	else
		add_name(to, tables, TABLE_OBJECT, (uint32_t)e->object, true);
	if (e->flags & EVENT_SIZED)
		str_printf(to, ",%" PRIu32, e->size);
}

static void add_value(struct str *to, const struct event *e)
{
	if (!(e->flags & EVENT_VALUED))
		return;
	if (e->flags & EVENT_UNSIGNED)
		str_printf(to, "=%" PRIu64, e->value);
	else
		str_printf(to, "=%" PRId64, (int64_t)e->value);
}

static void add_arguments(struct str *to, const struct tables *tables, const struct event *e)
{
	enum table_class class = event_info[e->kind].table;

	switch (event_info[e->kind].shape) {
	case SHAPE_ACCESS: add_object(to, tables, e); break;
	case SHAPE_ATOMIC:
		add_object(to, tables, e);
		str_printf(to, ",%s", event_order_text[e->order]);
		break;
	case SHAPE_ORDER: str_add(to, event_order_text[e->order]); break;
	case SHAPE_TWO:
		add_name(to, tables, class, (uint32_t)e->object, true);
		str_char(to, ',');
		add_name(to, tables, class, (uint32_t)e->mutex, true);
		break;
	default:
		if (class == TABLE_OBJECT)
			add_object(to, tables, e);
		else
			add_name(to, tables, class, (uint32_t)e->object, false);
		if (event_info[e->kind].shape == SHAPE_COUNT)
			str_printf(to, ",%" PRIu64, e->count);
	}
}

void trace_text_event(struct str *to, const struct tables *tables, const struct event *e)
{
	add_name(to, tables, TABLE_THREAD, e->thread, false);
	str_char(to, '|');
	str_add(to, event_info[e->kind].text);
	if (event_info[e->kind].shape != SHAPE_LABEL || e->object) {
		str_char(to, '(');
		add_arguments(to, tables, e);
		str_char(to, ')');
	}
	add_value(to, e);
	str_char(to, '|');
	add_place(to, tables, e->site);
	if (e->stack)
		str_printf(to, "|%" PRIu32, e->stack);
}

static void add_stack(struct str *to, const struct tables *tables, stack_id stack)
{
	struct frame f = tables_frame(tables, stack);

	str_printf(to, "# stack: %" PRIu32 " %" PRIu32 " ", stack, f.parent);
	if (f.code)
		add_name(to, tables, TABLE_CODE, f.code, false);
	else
		str_char(to, '-');
	str_char(to, ' ');
	if (f.site)
		add_place(to, tables, f.site);
	else
		str_char(to, '-');
	str_char(to, '\n');
}

static void add_module(struct str *to, const struct module *m)
{
	str_printf(to, "# module: 0x%" PRIx64 " 0x%" PRIx64 " ", m->base, m->size);
	text_escape(to, m->build_id.at, m->build_id.length, text_name_class, false);
	str_add(to, m->build_id.length ? " " : "- ");
	text_escape(to, m->path.at, m->path.length, text_place_class, false);
	str_char(to, '\n');
}

static void add_news(struct text_writer *s, const struct tables *tables)
{
	while (s->modules < tables->module_count)
		add_module(&s->line, &tables->modules[s->modules++]);
	while (s->stacks < tables->stacks)
		add_stack(&s->line, tables, ++s->stacks);
}

static void flush(struct trace_writer *w)
{
	struct text_writer *s = w->state;

	output_write(&w->output, s->line.at, s->line.length);
	str_clear(&s->line);
}

void trace_text_start(struct trace_writer *w)
{
	struct text_writer *s = arena_alloc(w->arena, sizeof *s);

	str_init(&s->line, w->arena);
	w->state = s;
}

void trace_text_put(struct trace_writer *w, const struct event *e)
{
	struct text_writer *s = w->state;

	add_news(s, w->tables);
	trace_text_event(&s->line, w->tables, e);
	str_char(&s->line, '\n');
	flush(w);
}

void trace_text_finish(struct trace_writer *w)
{
	add_news(w->state, w->tables);
	flush(w);
}
