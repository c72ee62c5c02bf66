/* SPDX-License-Identifier: MIT */
#include "trace.h"

#include <string.h>

#include "event/brief.h"

/* Told apart in this order: the last one fits everything. */
static const struct trace_format *const formats[] = {&trace_bin, &trace_text};

enum { FORMATS = sizeof formats / sizeof *formats, PROBE = 64 };

const struct trace_format *trace_format_named(const char *name)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

bool trace_open(struct trace *t, const char *path, struct tables *tables, bool lenient)
{
	size_t n, i = 0;

	*t = (struct trace){.tables = tables, .lenient = lenient};
	if (!input_open(&t->input, path, &t->fault))
		return false;
	input_need(&t->input, PROBE, &t->fault);
	n = (size_t)(t->input.end - t->input.at);
	while (i < FORMATS - 1 && !formats[i]->fits(t->input.at, n))
		i++;
	t->format = formats[i];
	if (!fault_is_set(&t->fault) && t->format->open(t))
		return true;
	trace_close(t);
	return false;
}

size_t trace_next(struct trace *t, struct event *events, size_t most)
{
	size_t n;

	if (fault_is_set(&t->fault))
		return 0;
	n = t->format->next(t, events, most);
	for (size_t i = 0; i < n; i++)
		events[i].seq = ++t->events;
	return n;
}

void trace_place(struct trace *t, size_t index, enum trace_field field, char *to, size_t n)
{
	t->format->place(t, index, field, to, n);
}

void trace_close(struct trace *t)
{
	if (t->format)
		t->format->close(t);
	input_close(&t->input);
}

bool trace_create(struct trace_writer *w, const struct trace_format *format, const char *path,
	const struct tables *tables, struct arena *a)
{
	*w = (struct trace_writer){.format = format, .tables = tables, .arena = a};
	if (!output_open(&w->output, path))
		return false;
	format->start(w);
	return true;
}

void trace_put(struct trace_writer *w, const struct event *e)
{
	w->events++;
	w->format->put(w, e);
}

void trace_put_briefs(struct trace_writer *w, const struct briefs *b)
{
	w->events += b->count;
	if (w->format->put_briefs) {
		w->format->put_briefs(w, b);
		return;
	}
	for (size_t i = 0; i < b->count; i++) {
		struct event e = brief_event(b, i);

		w->format->put(w, &e);
	}
}

void trace_put_loop(struct trace_writer *w, const struct brief_loop *l)
{
	w->events += l->count;
	if (w->format->put_loop) {
		w->format->put_loop(w, l);
		return;
	}
	for (uint64_t i = 0; i < l->count; i++) {
		struct event e = brief_loop_event(l, i);

		w->format->put(w, &e);
	}
}

bool trace_commit(struct trace_writer *w)
{
	w->format->finish(w);
	return output_commit(&w->output);
}

void trace_abort(struct trace_writer *w)
{
	if (w->format->drop)
		w->format->drop(w);
	output_abort(&w->output);
}
