/* SPDX-License-Identifier: MIT */
/*
 * Random events through both forms: text, binary, text again.
 *
 * The law: what is read is what was written, and the second text is the first, byte by byte. The
 * first step renumbers the names, because text has no tables; so events are compared by what their
 * ids stand for.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/opts.h"
#include "event/tables.h"
#include "event/trace.h"
#include "random_events.h"

enum { EVENTS_MOST = 2000, NAMES_MOST = 60 };

/* The files of one run, in a directory of its own that stays behind when the law is broken. */
static char directory[32];
static char first_text[64], binary[64], second_text[64];

/* A trace in memory. */
struct list {
	struct arena arena;
	struct tables tables;
	struct event *events;
	size_t count, capacity;
};

static void list_init(struct list *l)
{
	*l = (struct list){0};
	arena_init(&l->arena);
	tables_init(&l->tables, &l->arena);
}

static void list_add(struct list *l, const struct event *e)
{
	l->events = arena_reserve(&l->arena, l->events, &l->capacity, l->count, sizeof *e);
	l->events[l->count++] = *e;
}

static void list_random(struct list *l, struct rng *r)
{
	struct event e = {0};

	random_tables(r, &l->tables, 1 + rng_below(r, NAMES_MOST));
	for (uint32_t n = rng_below(r, EVENTS_MOST); n > 0; n--) {
		e = random_event(r, &l->tables, &e);
		list_add(l, &e);
	}
}

static void list_write(struct list *l, const struct trace_format *format, const char *path)
{
	struct trace_writer w;

	if (!trace_create(&w, format, path, &l->tables, &l->arena))
		die(STATUS_UNFIT, "%s", w.output.fault.text);
	for (size_t i = 0; i < l->count; i++)
		trace_put(&w, &l->events[i]);
	if (!trace_commit(&w))
		die(STATUS_TOOL, "%s", w.output.fault.text);
}

static void list_read(struct list *l, const char *path)
{
	struct event events[TRACE_BATCH];
	struct trace t;
	size_t n;

	list_init(l);
	if (!trace_open(&t, path, &l->tables, false))
		die(STATUS_TOOL, "%s", t.fault.text);
	while ((n = trace_next(&t, events, TRACE_BATCH)) > 0)
		for (size_t i = 0; i < n; i++)
			list_add(l, &events[i]);
	if (fault_is_set(&t.fault) || t.incomplete)
		die(STATUS_TOOL, "%s: %s", path, t.incomplete ? "incomplete" : t.fault.text);
	trace_close(&t);
}

static bool same_text(struct text a, struct text b)
{
	return a.length == b.length && (a.length == 0 || memcmp(a.at, b.at, a.length) == 0);
}

static bool same_name(
	const struct list *a, uint64_t x, const struct list *b, uint64_t y, enum table_class class)
{
	return (x == 0) == (y == 0) && same_text(tables_name(&a->tables, class, (uint32_t)x),
					       tables_name(&b->tables, class, (uint32_t)y));
}

static bool same_stack(const struct list *a, stack_id x, const struct list *b, stack_id y)
{
	while (x && y) {
		struct frame f = tables_frame(&a->tables, x), g = tables_frame(&b->tables, y);

		if (!same_name(a, f.code, b, g.code, TABLE_CODE) ||
			!same_name(a, f.site, b, g.site, TABLE_SITE))
			return false;
		x = f.parent;
		y = g.parent;
	}
	return x == y;
}

static bool same_object(
	const struct list *a, const struct event *x, const struct list *b, const struct event *y)
{
	if (x->flags & EVENT_ADDRESSED)
		return x->object == y->object;
	return same_name(a, x->object, b, y->object, event_info[x->kind].table);
}

static bool same_event(
	const struct list *a, const struct event *x, const struct list *b, const struct event *y)
{
	if (x->kind != y->kind || x->flags != y->flags || x->order != y->order ||
		x->size != y->size)
		return false;
	if (x->kind == EVENT_WAIT ? !same_name(a, x->mutex, b, y->mutex, TABLE_SYNC)
				  : x->value != y->value)
		return false;
	return same_name(a, x->thread, b, y->thread, TABLE_THREAD) &&
	       same_name(a, x->site, b, y->site, TABLE_SITE) &&
	       same_stack(a, x->stack, b, y->stack) && same_object(a, x, b, y);
}

static bool same_modules(const struct tables *a, const struct tables *b)
{
	if (a->module_count != b->module_count)
		return false;
	for (size_t i = 0; i < a->module_count; i++) {
		const struct module *m = &a->modules[i], *n = &b->modules[i];

		if (!same_text(m->path, n->path) || !same_text(m->build_id, n->build_id) ||
			m->base != n->base || m->size != n->size)
			return false;
	}
	return true;
}

static void expect_same(const struct list *a, const struct list *b, uint64_t seed, const char *step)
{
	size_t i = 0;

	while (i < a->count && i < b->count && same_event(a, &a->events[i], b, &b->events[i]))
		i++;
	if (i < a->count || i < b->count)
		die(STATUS_TOOL,
			"roundtrip: --seed %" PRIu64
			" --count 1: event %zu of %zu differs: %s, in %s",
			seed, i + 1, a->count, step, directory);
	if (!same_modules(&a->tables, &b->tables))
		die(STATUS_TOOL, "roundtrip: --seed %" PRIu64 " --count 1: the modules differ: %s",
			seed, step);
}

static void expect_same_files(uint64_t seed)
{
	FILE *a = fopen(first_text, "r"), *b = fopen(second_text, "r");
	int x, y;

	if (!a || !b)
		die(STATUS_UNFIT, "roundtrip: a file has gone");
	do {
		x = getc(a);
		y = getc(b);
	} while (x == y && x != EOF);
	if (x != y)
		die(STATUS_TOOL, "roundtrip: --seed %" PRIu64 " --count 1: byte %ld differs: %s %s",
			seed, ftell(a), first_text, second_text);
	fclose(a);
	fclose(b);
}

/* One random trace; returns its number of events. */
static size_t round_trip(uint64_t seed)
{
	struct rng r = {seed};
	struct list original, from_text, from_binary;
	size_t count;

	list_init(&original);
	list_random(&original, &r);
	list_write(&original, &trace_text, first_text);
	list_read(&from_text, first_text);
	expect_same(&original, &from_text, seed, "text");
	list_write(&from_text, &trace_bin, binary);
	list_read(&from_binary, binary);
	expect_same(&from_text, &from_binary, seed, "text to binary");
	list_write(&from_binary, &trace_text, second_text);
	expect_same_files(seed);
	count = original.count;
	arena_free(&original.arena);
	arena_free(&from_text.arena);
	arena_free(&from_binary.arena);
	return count;
}

static bool directory_in(const char *base)
{
	snprintf(directory, sizeof directory, "%s/roundtrip.XXXXXX", base);
	return mkdtemp(directory);
}

static void files_init(void)
{
	if (!directory_in("/dev/shm") && !directory_in("/tmp"))
		die(STATUS_UNFIT, "roundtrip: no place for files in /dev/shm and /tmp");
	snprintf(first_text, sizeof first_text, "%s/first.std", directory);
	snprintf(binary, sizeof binary, "%s/trace.ftr", directory);
	snprintf(second_text, sizeof second_text, "%s/second.std", directory);
}

static void files_remove(void)
{
	unlink(first_text);
	unlink(binary);
	unlink(second_text);
	rmdir(directory);
}

int main(int argc, char **argv)
{
	unsigned long count = 1000, seed = 1;
	const struct opt table[] = {
		{"count", 0, OPT_COUNT, &count, "N", "how many traces"},
		{"seed", 0, OPT_COUNT, &seed, "N", "the first one's seed"},
		{0},
	};
	uint64_t events = 0;

	opts_parse(table, "roundtrip", argc, argv);
	files_init();
	for (unsigned long i = 0; i < count; i++)
		events += round_trip(seed + i);
	files_remove();
	printf("roundtrip: %lu traces, %" PRIu64 " events: identical\n", count, events);
	return 0;
}
