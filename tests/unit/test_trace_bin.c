/* SPDX-License-Identifier: MIT */
/*
 * Binary traces: what is written is read, and nothing else ever is.
 *
 * Damage by chance is caught by the checksums: a small file is cut at every byte, and every byte of it is changed.
 * Damage on purpose has right checksums: chunks are made here byte by byte, and each rule of the reader has one
 * that breaks it alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/arena.h"
#include "base/hash.h"
#include "event/brief.h"
#include "event/tables.h"
#include "event/trace.h"
#include "event/trace_bin.h"
#include "event/trail.h"
#include "event/varint.h"
#include "random_events.h"

/* A trace in memory, and how reading it ended. */
struct list {
	struct arena arena;
	struct tables tables;
	struct event *events;
	size_t count, capacity;
	struct fault fault;
	bool incomplete;
	char incomplete_at[64];
};

/* The bytes of a file. */
struct image {
	unsigned char at[1 << 16];
	size_t used;
};

static char path[64];
static bool hurried; /* files are written as recordings are: their events are packed */

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

static void list_random(struct list *l, uint64_t seed, uint32_t names, size_t events)
{
	struct rng r = {seed};
	struct event e = {0};

	list_init(l);
	random_tables(&r, &l->tables, names);
	for (size_t i = 0; i < events; i++) {
		e = random_event(&r, &l->tables, &e);
		list_add(l, &e);
	}
}

/* Writes the events, with a flush in the middle if `flush`. */
static void list_write(struct list *l, bool flush)
{
	struct trace_writer w;

	assert_true(trace_create(&w, &trace_bin, path, &l->tables, &l->arena));
	if (hurried)
		trace_bin_hurry(&w);
	for (size_t i = 0; i < l->count; i++) {
		if (flush && i == l->count / 2)
			trace_bin_flush(&w);
		trace_put(&w, &l->events[i]);
	}
	assert_true(trace_commit(&w));
}

/* Loops: accesses of threads and sites that the tables have, to addresses. */

enum { PLACES = 40 };

static void random_places(struct rng *r, struct list *l, struct brief_place place[PLACES])
{
	for (uint32_t i = 0; i < PLACES; i++)
		place[i] = (struct brief_place){.pc = 0x400000 + rng_below(r, 1000), .key = (rng_below(r, 2) ? EVENT_READ :
			EVENT_WRITE) | (uint64_t)1 << (8 + rng_below(r, 4)), .site = rng_below(r, l->tables.names[TABLE_SITE].count + 1)};
}

/* The same loop with the address of each event, most of its items without a stride. */
static uint64_t *free_addresses(struct rng *r, const struct brief_loop *l)
{
	uint64_t *object = calloc(l->count + 1, sizeof *object), range = (uint64_t)1 << rng_below(r, 63);

	assert_non_null(object);
	for (uint64_t i = 0; i < l->count; i++)
		object[i] = brief_loop_object(l, i) + (i >= l->items && i % l->items % 3 ? rng_below(r, range) : 0);
	return object;
}

/* Written as a loop, and expected as what that stands for. A place may be there twice. */
static void loop_write(struct rng *r, struct list *l, struct trace_writer *w, struct brief_place place[PLACES],
	uint64_t count)
{
	struct brief at[BIN_LOOP_MOST];
	uint64_t stride[BIN_LOOP_MOST];
	struct brief_loop loop = {1 + (thread_id)rng_below(r, l->tables.names[TABLE_THREAD].count), place, at, stride,
		1 + (uint32_t)rng_below(r, rng_below(r, 9) ? 5 : BIN_LOOP_MOST), count, NULL};
	uint64_t *object = NULL;

	for (uint32_t i = 0; i < loop.items; i++) {
		at[i] = (struct brief){rng_below(r, 1 << 30), rng_below(r, 4) ? i % PLACES : rng_below(r, PLACES)};
		stride[i] = rng_below(r, 3) ? rng_below(r, 100) - 50 : rng_next(r);
	}
	if (rng_below(r, 2)) {
		loop.object = object = free_addresses(r, &loop);
		loop.stride = NULL;
	}
	for (uint64_t i = 0; i < count; i++) {
		struct event e = brief_loop_event(&loop, i);

		list_add(l, &e);
	}
	trace_put_loop(w, &loop);
	free(object);
}

/* Trails: what each token says, as it is written and as it is expected. */

struct trail_bytes {
	unsigned char at[2048];
	size_t used;
	thread_id thread;
};

static void trail_add(struct trail_bytes *b, uint64_t word, size_t n)
{
	unsigned char bytes[8];

	store64(bytes, word);
	memcpy(b->at + b->used, bytes, n);
	b->used += n;
}

static void trail_note(struct trail_bytes *b, struct trail_note n)
{
	trail_note_put(b->at + b->used, &n);
	b->used += TRAIL_NOTE;
}

static void trail_miss(struct trail_bytes *b, unsigned place, uint32_t by)
{
	trail_add(b, place << TRAIL_TOKEN_BITS | TRAIL_MISS, 2);
	trail_add(b, by, 4);
}

static void want_access(struct list *l, const struct trail_bytes *b, uint8_t kind, uint64_t address)
{
	list_add(l, &(struct event){.kind = kind, .flags = EVENT_SIZED | EVENT_ADDRESSED, .thread = b->thread, .object = address,
		.size = kind == EVENT_READ ? 4 : 8, .site = 1});
}

static void want_call(struct list *l, const struct trail_bytes *b, uint8_t kind)
{
	list_add(l, &(struct event){.kind = kind, .thread = b->thread, .object = 1, .site = 1});
}

enum { A_READ = 1, A_WRITE, AN_ENTRY, AN_EXIT };

static void trail_define(struct trail_bytes *b)
{
	trail_note(b, (struct trail_note){.sort = TRAIL_DEFINE, .place = A_READ, .kind = TRAIL_READ, .size = 4, .site = 1});
	trail_note(b, (struct trail_note){.sort = TRAIL_DEFINE, .place = A_WRITE, .kind = TRAIL_WRITE, .size = 8, .site = 1});
	trail_note(b, (struct trail_note){.sort = TRAIL_DEFINE, .place = AN_ENTRY, .kind = TRAIL_ENTRY, .site = 1, .code = 1,
		.leave = 1});
	trail_note(b, (struct trail_note){.sort = TRAIL_DEFINE, .place = AN_EXIT, .kind = TRAIL_LEAVE, .site = 1, .key = 64});
}

static void trail_accesses(struct trail_bytes *b, struct list *l)
{
	trail_miss(b, A_READ, 0x1000);
	trail_add(b, A_READ << TRAIL_TOKEN_BITS, 2);
	trail_add(b, 3 << TRAIL_TOKEN_BITS | TRAIL_COUNTED, 2);
	trail_add(b, 8 << 8 | 1 << TRAIL_TOKEN_BITS | TRAIL_SLIPPED, 4);
	for (uint64_t i = 1; i <= 6; i++)
		want_access(l, b, EVENT_READ, i * 0x1000);
	want_access(l, b, EVENT_READ, 0x6008);
	trail_miss(b, A_WRITE, (uint32_t)INT32_MIN);
	trail_add(b, 0x7fff12345678, 6);
	want_access(l, b, EVENT_WRITE, 0x7fff12345678);
	trail_add(b, 0, 2);
}

/* The third one is left without an exit when the fourth is as deep; what is open then is left at the end. */
static void trail_calls(struct trail_bytes *b, struct list *l)
{
	trail_miss(b, AN_ENTRY, 0x100);
	trail_miss(b, AN_EXIT, 0x100);
	trail_note(b, (struct trail_note){.sort = TRAIL_ENTER, .depth = 9, .site = 1, .code = 1, .leave = 1});
	trail_note(b, (struct trail_note){.sort = TRAIL_ENTER, .depth = 8, .site = 1, .code = 1, .leave = 1});
	trail_note(b, (struct trail_note){.sort = TRAIL_COUNT, .depth = 1}); /* behind an exit there was the first place */
	for (int i = 0; i < 2; i++) {
		want_call(l, b, EVENT_ENTER);
		want_call(l, b, EVENT_EXIT);
	}
	want_call(l, b, EVENT_ENTER);
	want_access(l, b, EVENT_READ, 0x6010);
	trail_note(b, (struct trail_note){.sort = TRAIL_FINISH, .site = 1});
	want_call(l, b, EVENT_EXIT);
}

static void trail_write(struct list *l, struct trace_writer *w, thread_id thread)
{
	struct trail_bytes b = {.thread = thread};

	trail_define(&b);
	trail_accesses(&b, l);
	trace_bin_put_trail(w, thread, b.at, b.used, false);
	b.used = 0;
	trail_calls(&b, l);
	trace_bin_put_trail(w, thread, b.at, b.used, false);
}

/* Of the random events of the list, each is followed by a loop or a trail now and then; `most` is how long these may be. */
static void list_write_loops(struct list *l, uint64_t seed, uint64_t most)
{
	struct list all;
	struct brief_place place[PLACES];
	struct trace_writer w;
	struct rng r = {seed};

	list_init(&all);
	all.tables = l->tables;
	random_places(&r, &all, place);
	assert_true(trace_create(&w, &trace_bin, path, &all.tables, &l->arena));
	if (hurried)
		trace_bin_hurry(&w);
	trace_bin_trails(&w);
	for (size_t i = 0; i < l->count; i++) {
		trace_put(&w, &l->events[i]);
		list_add(&all, &l->events[i]);
		if (i == l->count / 2)
			trace_bin_flush(&w);
		if (rng_below(&r, 6) == 0)
			loop_write(&r, &all, &w, place, rng_below(&r, 2) ? rng_below(&r, most) : rng_below(&r, 6));
		if (rng_below(&r, 12) == 0)
			trail_write(&all, &w, 1 + (thread_id)rng_below(&r, all.tables.names[TABLE_THREAD].count));
	}
	assert_true(trace_commit(&w));
	l->events = all.events; /* the arena of these is left for the end of the test */
	l->count = all.count;
}

static void list_read(struct list *l)
{
	struct event events[TRACE_BATCH];
	struct trace t;
	size_t n;

	list_init(l);
	if (trace_open(&t, path, &l->tables, false)) {
		while ((n = trace_next(&t, events, TRACE_BATCH)) > 0)
			for (size_t i = 0; i < n; i++)
				list_add(l, &events[i]);
		trace_close(&t);
	}
	l->fault = t.fault;
	l->incomplete = t.incomplete;
	memcpy(l->incomplete_at, t.incomplete_at, sizeof l->incomplete_at);
}

static bool same_text(struct text a, struct text b)
{
	return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

/* Whether all that `part` has is in `whole`, under the same numbers. */
static void assert_tables_of(const struct tables *part, const struct tables *whole)
{
	for (int c = TABLE_NONE + 1; c < TABLE_CLASSES; c++) {
		assert_true(part->names[c].count <= whole->names[c].count);
		for (uint32_t id = 1; id <= part->names[c].count; id++)
			assert_true(same_text(tables_name(part, c, id), tables_name(whole, c, id)));
	}
	assert_true(part->stacks <= whole->stacks);
	for (stack_id s = 1; s <= part->stacks; s++) {
		struct frame f = tables_frame(part, s), g = tables_frame(whole, s);

		assert_true(f.parent == g.parent && f.code == g.code && f.site == g.site);
	}
	assert_true(part->module_count <= whole->module_count);
	for (size_t i = 0; i < part->module_count; i++) {
		const struct module *m = &part->modules[i], *n = &whole->modules[i];

		assert_true(same_text(m->path, n->path) && same_text(m->build_id, n->build_id));
		assert_true(m->base == n->base && m->size == n->size);
	}
}

static void assert_prefix_of(const struct list *part, const struct list *whole)
{
	assert_true(part->count <= whole->count);
	for (size_t i = 0; i < part->count; i++) {
		assert_true(event_equal(&part->events[i], &whole->events[i]));
		assert_int_equal(part->events[i].seq, i + 1);
		assert_int_equal(part->events[i].line, 0);
	}
	assert_tables_of(&part->tables, &whole->tables);
}

static void assert_round_trip(uint64_t seed, uint32_t names, size_t events, bool flush)
{
	struct list l, back;

	list_random(&l, seed, names, events);
	list_write(&l, flush);
	list_read(&back);
	assert_int_equal(back.fault.status, 0);
	assert_false(back.incomplete);
	assert_int_equal(back.count, l.count);
	assert_prefix_of(&back, &l);
	assert_tables_of(&l.tables, &back.tables);
	arena_free(&l.arena);
	arena_free(&back.arena);
}

static void test_round_trips(void **state)
{
	(void)state;
	assert_round_trip(1, 4, 0, false);
	assert_round_trip(2, 4, 1, false);
	for (uint64_t seed = 3; seed < 60; seed++)
		assert_round_trip(seed, 1 + (uint32_t)seed, seed * 37, seed % 2);
}

static void assert_loops_round_trip(uint64_t seed, size_t events, uint64_t most)
{
	struct list l, back;

	list_random(&l, seed, 9, events);
	list_write_loops(&l, seed, most);
	list_read(&back);
	assert_int_equal(back.fault.status, 0);
	assert_false(back.incomplete);
	assert_int_equal(back.count, l.count);
	assert_prefix_of(&back, &l);
	arena_free(&l.arena);
	arena_free(&back.arena);
}

/* Also loops that are longer than those of one chunk may be, and more of them than it has room for. */
static void test_loops_round_trip(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 60; seed++)
		assert_loops_round_trip(seed, seed * 9, 100);
	assert_loops_round_trip(60, 100000, 60);
	assert_loops_round_trip(61, 20, 3 * BIN_LOOPS_MOST);
}

/* More events than one chunk holds; then, with many names, more templates. */
static void test_round_trips_over_chunks(void **state)
{
	(void)state;
	assert_round_trip(100, 3, 3 * BIN_EVENTS_MOST + 5, true);
	assert_round_trip(101, 20000, 5 * BIN_TEMPLATES_MOST, false);
}

static void file_put(const struct image *m, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(m->at, 1, n, f), n);
	fclose(f);
}

static void file_get(struct image *m)
{
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	m->used = fread(m->at, 1, sizeof m->at, f);
	assert_true(m->used < sizeof m->at);
	fclose(f);
}

/* The sample has every kind of chunk, and two of events. */
static void sample(struct list *l, struct image *m)
{
	list_random(l, 7, 6, 60);
	while (l->tables.module_count == 0 || l->tables.stacks == 0)
		random_tables(&(struct rng){l->tables.stacks + 1}, &l->tables, 3);
	list_write_loops(l, 1, 40);
	file_get(m);
}

/* What a damaged file gives is a part of the sample, and it does not pass for all of it. */
static size_t assert_not_whole(const struct list *l)
{
	struct list back;
	size_t count;

	list_read(&back);
	assert_true(back.incomplete || back.fault.status == STATUS_TRACE);
	assert_false(back.incomplete && back.fault.status);
	assert_prefix_of(&back, l);
	count = back.count;
	arena_free(&back.arena);
	return count;
}

static void test_cut_anywhere(void **state)
{
	struct list l;
	struct image m;
	size_t most = 0;

	(void)state;
	sample(&l, &m);
	for (size_t n = 1; n < m.used; n++) {
		size_t count;

		file_put(&m, n);
		count = assert_not_whole(&l);
		assert_true(count >= most);
		most = count;
	}
	assert_int_equal(most, l.count);
	arena_free(&l.arena);
}

static void test_cut_says_where(void **state)
{
	struct list l, back;
	struct image m;

	(void)state;
	sample(&l, &m);
	file_put(&m, BIN_HEADER - 1);
	list_read(&back);
	assert_int_equal(back.fault.status, STATUS_TRACE);
	assert_non_null(strstr(back.fault.text, "cut inside its header"));
	arena_free(&back.arena);
	file_put(&m, m.used - 1);
	list_read(&back);
	assert_true(back.incomplete);
	assert_int_equal(strtoul(back.incomplete_at + strlen("byte "), NULL, 10), m.used - 1);
	arena_free(&back.arena);
	arena_free(&l.arena);
}

static void test_changed_anywhere(void **state)
{
	static const unsigned char change[] = {0x01, 0x80, 0xff};
	struct list l;
	struct image m;

	(void)state;
	sample(&l, &m);
	for (size_t i = 0; i < m.used; i++)
		for (size_t c = 0; c < sizeof change; c++) {
			m.at[i] ^= change[c];
			file_put(&m, m.used);
			assert_not_whole(&l);
			m.at[i] ^= change[c];
		}
	arena_free(&l.arena);
}

/* A reader adds names and stacks of its own between batches; events still mean what they meant. */
static void test_numbers_of_others(void **state)
{
	struct list l;
	struct tables mine;
	struct trace t;
	struct event e[TRACE_BATCH];
	size_t n, seen = 0;

	(void)state;
	list_random(&l, 11, 30, 2000);
	list_write(&l, true);
	tables_init(&mine, &l.arena);
	for (int c = TABLE_NONE + 1; c < TABLE_CLASSES; c++)
		intern_add(&mine.names[c], "a name of mine", 14);
	tables_stack(&mine, (struct frame){.code = 1});
	assert_true(trace_open(&t, path, &mine, false));
	while ((n = trace_next(&t, e, TRACE_BATCH)) > 0)
		for (size_t i = 0; i < n; i++, seen++) {
			const struct event *was = &l.events[seen];
			enum table_class class = event_info[e[i].kind].table;

			assert_int_equal(e[i].kind, was->kind);
			assert_int_equal(e[i].thread, was->thread + 1);
			assert_int_equal(e[i].site, was->site ? was->site + 1 : 0);
			assert_int_equal(e[i].stack, was->stack ? was->stack + 1 : 0);
			if (class != TABLE_NONE && was->object && !(was->flags & EVENT_ADDRESSED))
				assert_int_equal(e[i].object, was->object + 1);
			else
				assert_true(e[i].object == was->object);
			assert_true(e[i].value == was->value + (was->kind == EVENT_WAIT));
		}
	assert_int_equal(seen, l.count);
	assert_int_equal(t.fault.status, 0);
	trace_close(&t);
	arena_free(&l.arena);
}

static void test_place(void **state)
{
	struct list l;
	struct trace t;
	struct event e[16];
	char place[256], want[256];

	(void)state;
	list_random(&l, 5, 5, 40);
	list_write(&l, false);
	assert_true(trace_open(&t, path, &l.tables, false));
	assert_int_equal(trace_next(&t, e, 16), 16);
	assert_int_equal(trace_next(&t, e, 16), 16);
	trace_place(&t, 3, FIELD_ARGUMENT, place, sizeof place);
	snprintf(want, sizeof want, "%s:event 20 (chunk at byte ", path);
	assert_int_equal(strncmp(place, want, strlen(want)), 0);
	trace_close(&t);
	arena_free(&l.arena);
}

static void test_control_characters_are_not_written(void **state)
{
	struct list l;
	struct trace_writer w;

	(void)state;
	list_random(&l, 5, 5, 4);
	intern_add(&l.tables.names[TABLE_SITE], "a\nb", 3);
	assert_true(trace_create(&w, &trace_bin, path, &l.tables, &l.arena));
	assert_false(trace_commit(&w));
	assert_non_null(strstr(w.output.fault.text, "control character"));
	arena_free(&l.arena);
}

/* From here on, files are made by hand. */

static void image_bytes(struct image *m, const void *bytes, size_t n)
{
	memcpy(m->at + m->used, bytes, n);
	m->used += n;
}

static void image_header(struct image *m, uint16_t version, uint32_t features)
{
	unsigned char header[BIN_HEADER] = {0};

	memcpy(header, bin_magic, BIN_MAGIC);
	store16(header + 8, version);
	store32(header + 12, features);
	store64(header + 16, hash_bytes(header, 16));
	m->used = 0;
	image_bytes(m, header, sizeof header);
}

/* A chunk with right checksums, whatever its head says. */
static void image_chunk(struct image *m, struct chunk_head h, const void *payload, size_t n)
{
	unsigned char head[BIN_CHUNK_HEAD];

	h.checksum = hash_bytes(payload, n);
	chunk_head_put(head, &h);
	image_bytes(m, head, sizeof head);
	image_bytes(m, payload, n);
}

static void image_raw(struct image *m, uint8_t kind, uint16_t number, uint32_t entries, const void *payload,
	size_t n)
{
	image_chunk(m, (struct chunk_head){.kind = kind, .number = number, .entries = entries, .raw = (uint32_t)n,
		.stored = (uint32_t)n}, payload, n);
}

/* A file that defines one name of each class and one stack. Two chunks. */
static void image_tables(struct image *m)
{
	static const unsigned char names[] = {TABLE_THREAD, 1, 'T', TABLE_OBJECT, 1, 'x', TABLE_SYNC, 1, 'm',
		TABLE_CODE, 1, 'f', TABLE_SITE, 1, 's'};
	static const unsigned char stacks[] = {0, 1, 1};

	image_header(m, BIN_VERSION, 0);
	image_raw(m, CHUNK_STRINGS, 0, 5, names, sizeof names);
	image_raw(m, CHUNK_STACKS, 1, 1, stacks, sizeof stacks);
}

static void image_end(struct image *m, uint16_t number, uint64_t events)
{
	unsigned char total[8];

	store64(total, events);
	image_raw(m, CHUNK_END, number, 0, total, sizeof total);
}

static void assert_refused(const struct image *m, const char *message)
{
	struct list l;

	file_put(m, m->used);
	list_read(&l);
	if (l.fault.status != STATUS_TRACE || !strstr(l.fault.text, message))
		fail_msg("expected \"%s\", got %d \"%s\"", message, l.fault.status, l.fault.text);
	assert_false(l.incomplete);
	arena_free(&l.arena);
}

static void assert_accepted(const struct image *m, size_t events)
{
	struct list l;

	file_put(m, m->used);
	list_read(&l);
	if (l.fault.status || l.incomplete)
		fail_msg("%s", l.fault.text);
	assert_int_equal(l.count, events);
	arena_free(&l.arena);
}

static void test_headers(void **state)
{
	struct image m;

	(void)state;
	image_header(&m, BIN_VERSION, 0);
	image_end(&m, 0, 0);
	assert_accepted(&m, 0);
	image_bytes(&m, "", 1);
	assert_refused(&m, "bytes follow behind the end");
	image_header(&m, BIN_VERSION + 1, 0);
	assert_refused(&m, "version 2 of the binary form");
	image_header(&m, BIN_VERSION, 1 << 5);
	assert_refused(&m, "needs feature 5");
	image_header(&m, BIN_VERSION, 0);
	m.at[0] &= 0x7f;
	assert_refused(&m, "copied as text");
	image_header(&m, BIN_VERSION, 0);
	memmove(m.at + 4, m.at + 5, m.used - 5); /* CR LF becomes LF */
	assert_refused(&m, "copied as text");
}

static void test_ends(void **state)
{
	struct image m;
	unsigned char total[9] = {0};

	(void)state;
	image_header(&m, BIN_VERSION, 0);
	image_end(&m, 0, 1);
	assert_refused(&m, "as many events as its end says");
	image_header(&m, BIN_VERSION, 0);
	image_raw(&m, CHUNK_END, 0, 0, total, 9);
	assert_refused(&m, "wrong length");
	image_header(&m, BIN_VERSION, 0);
	image_raw(&m, CHUNK_END, 0, 1, total, 8);
	assert_refused(&m, "wrong length");
	image_header(&m, BIN_VERSION, 0);
	image_end(&m, 1, 0);
	assert_refused(&m, "missing, doubled or out of order");
}

static void test_chunk_heads(void **state)
{
	static const struct {
		struct chunk_head head;
		const char *message;
	} cases[] = {
		{{.kind = 0}, "unknown kind of chunk"},
		{{.kind = CHUNK_KINDS}, "unknown kind of chunk"},
		{{.kind = CHUNK_STRINGS, .flags = CHUNK_ZSTD << 1}, "unknown kind of chunk"},
		{{.kind = CHUNK_STRINGS, .raw = BIN_RAW_MOST + 1, .stored = BIN_RAW_MOST + 1}, "out of bounds"},
		{{.kind = CHUNK_STRINGS, .raw = UINT32_MAX, .stored = UINT32_MAX}, "out of bounds"},
		{{.kind = CHUNK_STRINGS, .raw = 7, .stored = 8}, "out of bounds"},
		{{.kind = CHUNK_STRINGS, .flags = CHUNK_ZSTD, .raw = 7, .stored = 8}, "out of bounds"},
		{{.kind = CHUNK_STRINGS, .raw = 9, .stored = 8}, "out of bounds"},
		{{.kind = CHUNK_STRINGS, .flags = CHUNK_ZSTD, .raw = 99, .stored = 8}, "does not decompress"},
		{{.kind = CHUNK_STRINGS, .flags = CHUNK_ZSTD, .raw = BIN_RAW_MOST, .stored = 8}, "does not"},
	};
	struct image m;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		image_header(&m, BIN_VERSION, 0);
		image_chunk(&m, cases[i].head, "junkjunk", 8);
		assert_refused(&m, cases[i].message);
	}
}

/* A frame that is right, and longer or shorter than the head says. */
static void test_frames(void **state)
{
	unsigned char zeros[1000] = {0}, frame[2000];
	size_t n = ZSTD_compress(frame, sizeof frame, zeros, sizeof zeros, 1);
	struct image m;

	(void)state;
	for (uint32_t raw = 999; raw <= 1001; raw++) {
		image_header(&m, BIN_VERSION, 0);
		image_chunk(&m, (struct chunk_head){.kind = CHUNK_STRINGS, .flags = CHUNK_ZSTD, .raw = raw,
			.stored = (uint32_t)n}, frame, n);
		assert_refused(&m, raw == 1000 ? "bytes are left over" : "does not decompress");
	}
}

struct part {
	const unsigned char *at; /* NULL: not given */
	size_t n;
};

#define PART(...) {(const unsigned char[]){__VA_ARGS__}, sizeof(const unsigned char[]){__VA_ARGS__}}
#define EMPTY {(const unsigned char[]){0}, 0}

static const struct {
	uint8_t kind;
	struct part payload;
	const char *message;
} wrong_entries[] = {
	{CHUNK_STRINGS, PART(TABLE_NONE, 1, 'a'), "a name that"},
	{CHUNK_STRINGS, PART(TABLE_CLASSES, 1, 'a'), "a name that"},
	{CHUNK_STRINGS, PART(255, 1, 'a'), "a name that"},
	{CHUNK_STRINGS, PART(TABLE_CODE, 0), "a name that"},
	{CHUNK_STRINGS, PART(TABLE_CODE, 3, 'a', 0, 'b'), "a name that"},
	{CHUNK_STRINGS, PART(TABLE_CODE, 3, 'a', '\n', 'b'), "a name that"},
	{CHUNK_STRINGS, PART(TABLE_CODE, 3, 'a', 27, 'b'), "a name that"},
	{CHUNK_STRINGS, PART(TABLE_CODE, 3, 'a', 127, 'b'), "a name that"},
	{CHUNK_STRINGS, PART(TABLE_CODE, 4, 'a', 'b', 'c'), "cut short"},
	{CHUNK_STRINGS, PART(TABLE_CODE, 0x81, 0, 'a'), "cut short"},
	{CHUNK_STRINGS, PART(TABLE_CODE, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1), "cut short"},
	{CHUNK_STRINGS, PART(TABLE_CODE), "cut short"},
	{CHUNK_STRINGS, PART(TABLE_CODE, 1, 'a', 0), "left over"},
	{CHUNK_STACKS, PART(2, 1, 1), "a stack that"},
	{CHUNK_STACKS, PART(0, 2, 1), "a stack that"},
	{CHUNK_STACKS, PART(0, 1, 2), "a stack that"},
	{CHUNK_STACKS, PART(0x81, 0, 1, 1), "a stack that"},
	{CHUNK_STACKS, PART(0, 1), "a stack that"},
	{CHUNK_STACKS, PART(0, 1, 1, 0), "left over"},
	{CHUNK_MODULES, PART(1, '\n', 1, 'b', 1, 1), "control characters"},
	{CHUNK_MODULES, PART(1, 'a', 1, 0, 1, 1), "control characters"},
	{CHUNK_MODULES, PART(1, 'a', 9, 'b', 1, 1), "a module is cut short"},
	{CHUNK_MODULES, PART(1, 'a', 1, 'b', 1), "a module is cut short"},
	{CHUNK_MODULES, PART(0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 1), "a module is cut"},
	{CHUNK_MODULES, PART(1, 'a', 1, 'b', 1, 1, 1), "left over"},
};

static void test_table_entries(void **state)
{
	struct image m;

	(void)state;
	for (size_t i = 0; i < sizeof wrong_entries / sizeof *wrong_entries; i++) {
		image_tables(&m);
		image_raw(&m, wrong_entries[i].kind, 2, 1, wrong_entries[i].payload.at, wrong_entries[i].payload.n);
		assert_refused(&m, wrong_entries[i].message);
	}
}

/* The parts of an events chunk. What is not given is that of `plain`. */
struct parts {
	struct part templates, runs, heads, objects, values;
};

#define TEMPLATE(...) .templates = PART(__VA_ARGS__)
#define RUNS(...) .runs = PART(__VA_ARGS__)
#define HEADS(...) .heads = PART(__VA_ARGS__)
#define OBJECTS(...) .objects = PART(__VA_ARGS__)
#define VALUES(...) .values = PART(__VA_ARGS__)
#define NO(part) .part = EMPTY
#define BITS(order, flags) ((order) << 4 | (flags))

/* One read of x by T at s: the template's site is zigzag(1), the object zigzag(1) in one byte. */
static const struct parts plain = {TEMPLATE(EVENT_READ, 0, 2, 0), RUNS(1, 1), HEADS(1, 0), OBJECTS(2), NO(values)};

static void add_part(struct image *payload, struct part p, struct part instead, unsigned char *length)
{
	if (!p.at)
		p = instead;
	if (length)
		store32(length, (uint32_t)p.n);
	image_bytes(payload, p.at, p.n);
}

/* A file with these parts as its events chunk, of one template and one event. */
static void image_events(struct image *m, const struct parts *p)
{
	static struct image payload;

	payload.used = BIN_EVENTS_HEAD;
	store32(payload.at, 1);
	add_part(&payload, p->templates, plain.templates, NULL);
	add_part(&payload, p->runs, plain.runs, payload.at + 4);
	add_part(&payload, p->heads, plain.heads, NULL);
	add_part(&payload, p->objects, plain.objects, payload.at + 8);
	add_part(&payload, p->values, plain.values, payload.at + 12);
	image_tables(m);
	image_raw(m, CHUNK_EVENTS, 2, 1, payload.at, payload.used);
	image_end(m, 3, 1);
}

static const struct parts right_events[] = {
	{0},
	{TEMPLATE(EVENT_WRITE, BITS(0, EVENT_SIZED), 4, 2, 1)},
	{TEMPLATE(EVENT_READ, BITS(0, EVENT_ADDRESSED), 0, 1), HEADS(0, 0), NO(objects)},
	{TEMPLATE(EVENT_READ, BITS(0, EVENT_ADDRESSED), 0, 1), HEADS(7, 0), OBJECTS(1, 2, 3, 4, 5, 6, 7, 8)},
	{TEMPLATE(EVENT_READ, BITS(0, EVENT_VALUED), 0, 0), VALUES(0)},
	{TEMPLATE(EVENT_READ, BITS(0, EVENT_VALUED | EVENT_UNSIGNED), 0, 0), VALUES(8, 0, 0, 0, 0, 0, 0, 0, 128)},
	{TEMPLATE(EVENT_WAIT, 0, 0, 0), VALUES(1, 1)},
	{TEMPLATE(EVENT_BARRIER, 0, 0, 0), VALUES(1, 1)},
	{TEMPLATE(EVENT_ALLOC, BITS(0, EVENT_ADDRESSED), 0, 0), VALUES(0)},
	{TEMPLATE(EVENT_ATOMIC_FENCE, BITS(ORDER_SEQ_CST, 0), 0, 0), HEADS(0, 0), NO(objects)},
	{TEMPLATE(EVENT_BEGIN, 0, 0, 0), HEADS(0, 0), NO(objects)},
};

static void test_events_that_are_right(void **state)
{
	struct image m;

	(void)state;
	for (size_t i = 0; i < sizeof right_events / sizeof *right_events; i++) {
		image_events(&m, &right_events[i]);
		assert_accepted(&m, 1);
	}
}

static const struct {
	struct parts parts;
	const char *message;
} wrong_events[] = {
	{{TEMPLATE(EVENT_NONE, 0, 0, 0)}, "unknown kind of event"},
	{{TEMPLATE(EVENT_KINDS, 0, 0, 0)}, "unknown kind of event"},
	{{TEMPLATE(255, 0, 0, 0)}, "unknown kind of event"},
	{{TEMPLATE(EVENT_ACQUIRE, BITS(0, EVENT_SIZED), 4, 0, 0)}, "a flag that"},
	{{TEMPLATE(EVENT_ACQUIRE, BITS(0, EVENT_VALUED), 0, 0)}, "a flag that"},
	{{TEMPLATE(EVENT_ACQUIRE, BITS(0, EVENT_ADDRESSED), 0, 0)}, "a flag that"},
	{{TEMPLATE(EVENT_FREE, BITS(0, EVENT_SIZED), 4, 0, 0)}, "a flag that"},
	{{TEMPLATE(EVENT_READ, BITS(0, EVENT_UNSIGNED), 0, 0)}, "unsigned value that is not there"},
	{{TEMPLATE(EVENT_READ, BITS(ORDER_RELAXED, 0), 0, 0)}, "memory order"},
	{{TEMPLATE(EVENT_ATOMIC_LOAD, BITS(ORDER_NONE, 0), 0, 0)}, "memory order"},
	{{TEMPLATE(EVENT_ATOMIC_LOAD, BITS(ORDERS, 0), 0, 0)}, "memory order"},
	{{TEMPLATE(EVENT_ATOMIC_FENCE, BITS(ORDER_NONE, 0), 0, 0)}, "memory order"},
	{{TEMPLATE(EVENT_READ, BITS(0, EVENT_SIZED), 0, 0, 0)}, "no or too many bytes"},
	{{TEMPLATE(EVENT_READ, BITS(0, EVENT_SIZED), 0x81, 0x80, 0x80, 0x08, 0, 0)}, "no or too many bytes"},
	{{TEMPLATE(EVENT_READ, 0, 4, 0)}, "not in the tables"},
	{{TEMPLATE(EVENT_READ, 0, 1, 0)}, "not in the tables"},
	{{TEMPLATE(EVENT_READ, 0, 0, 2)}, "not in the tables"},
	{{TEMPLATE(EVENT_READ, 0, 0x82, 0, 0)}, "a template is cut short"},
	{{TEMPLATE(EVENT_READ, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x1f)}, "a template is cut short"},
	{{RUNS(0, 1)}, "a run of events"},
	{{RUNS(2, 1)}, "a run of events"},
	{{RUNS(1, 0)}, "a run of events"},
	{{RUNS(1, 2)}, "a run of events"},
	{{RUNS(1)}, "a run of events"},
	{{NO(runs)}, "a run of events"},
	{{RUNS(1, 1, 1)}, "left over"},
	{{HEADS(9, 0)}, "a template that the chunk does not have"},
	{{HEADS(0xff, 0xff)}, "a template that the chunk does not have"},
	{{HEADS(1)}, "do not add up"},
	{{HEADS(1, 0, 0)}, "do not add up"},
	{{OBJECTS(0)}, "an object that is not in the tables"},
	{{OBJECTS(1)}, "an object that is not in the tables"},
	{{OBJECTS(4)}, "an object that is not in the tables"},
	{{HEADS(7, 0), OBJECTS(0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)}, "an object that is not"},
	{{TEMPLATE(EVENT_BEGIN, 0, 0, 0), OBJECTS(4)}, "an object that is not in the tables"},
	{{TEMPLATE(EVENT_ATOMIC_FENCE, BITS(ORDER_SEQ_CST, 0), 0, 0)}, "an object that is not in the tables"},
	{{TEMPLATE(EVENT_READ, BITS(0, EVENT_ADDRESSED), 0, 0), HEADS(7, 0)}, "end before its events"},
	{{TEMPLATE(EVENT_READ, BITS(0, EVENT_ADDRESSED), 0, 0), NO(objects)}, "end before its events"},
	{{OBJECTS(2, 0)}, "left over"},
	{{VALUES(0)}, "left over"},
	{{TEMPLATE(EVENT_READ, BITS(0, EVENT_VALUED), 0, 0)}, "end before its events"},
	{{TEMPLATE(EVENT_READ, BITS(0, EVENT_VALUED), 0, 0), VALUES(2, 1)}, "end before its events"},
	{{TEMPLATE(EVENT_READ, BITS(0, EVENT_VALUED), 0, 0), VALUES(9, 1, 2, 3, 4, 5, 6, 7, 8, 9)}, "more than 8"},
	{{TEMPLATE(EVENT_READ, BITS(0, EVENT_VALUED | EVENT_UNSIGNED), 0, 0), VALUES(1, 1)}, "a value that"},
	{{TEMPLATE(EVENT_BARRIER, 0, 0, 0), VALUES(0)}, "a value that"},
	{{TEMPLATE(EVENT_WAIT, 0, 0, 0), VALUES(0)}, "a value that"},
	{{TEMPLATE(EVENT_WAIT, 0, 0, 0), VALUES(1, 2)}, "a value that"},
};

static void test_events_that_are_wrong(void **state)
{
	struct image m;

	(void)state;
	for (size_t i = 0; i < sizeof wrong_events / sizeof *wrong_events; i++) {
		image_events(&m, &wrong_events[i].parts);
		assert_refused(&m, wrong_events[i].message);
	}
}

static const struct parts two_reads[] = {
	{TEMPLATE(EVENT_READ, BITS(0, EVENT_ADDRESSED), 0, 0), RUNS(1, 2), HEADS(1, 0, 1, 0), OBJECTS(2, 2), NO(values)},
	{TEMPLATE(EVENT_READ, BITS(0, EVENT_ADDRESSED), 0, 0), RUNS(1, 1, 2, 1), HEADS(1, 0, 1, 0), OBJECTS(2, 2), NO(values)},
};

/* In front of two reads by address, of T and once more of T, or of another thread; with so many ways, if any. */
static void image_ways(struct image *m, struct part loops, uint32_t count, bool others, struct part ways, uint32_t way_count)
{
	static const unsigned char names[] = {TABLE_THREAD, 1, 'U'};
	static struct image payload;
	const struct parts *p = &two_reads[others];

	payload.used = BIN_EVENTS_HEAD;
	store32(payload.at, 1);
	add_part(&payload, p->templates, plain.templates, NULL);
	add_part(&payload, p->runs, plain.runs, payload.at + 4);
	add_part(&payload, p->heads, plain.heads, NULL);
	add_part(&payload, p->objects, plain.objects, payload.at + 8);
	store32(payload.at + 12, 0);
	image_tables(m);
	image_raw(m, CHUNK_STRINGS, 2, 1, names, sizeof names);
	image_raw(m, CHUNK_LOOPS, 3, count, loops.at, loops.n);
	if (way_count)
		image_raw(m, CHUNK_WAYS, 4, way_count, ways.at, ways.n);
	image_raw(m, CHUNK_EVENTS, way_count ? 5 : 4, 2, payload.at, payload.used);
}

static void image_loops(struct image *m, struct part loops, uint32_t count, bool others)
{
	image_ways(m, loops, count, others, (struct part){0}, 0);
}

#define MANY 0x80, 0x80, 0x40 /* BIN_LOOPS_MOST */

static const struct {
	struct part loops;
	uint32_t count;
	bool others;
	const char *message;
} wrong_loops[] = {
	{PART(0, 1), 1, false, "a loop that is cut short"},
	{PART(0, 0, 2, 0), 1, false, "of no items"},
	{PART(0, 65, 66), 1, false, "a loop that is cut short"},
	{PART(0, 1, 1, 0), 1, false, "does nothing again"},
	{PART(0, 1, 0x80, 0x80, 0x41, 0), 1, false, "a loop that is cut short"},
	{PART(0, 2, 3, 0), 1, false, "strides of a loop are cut short"},
	{PART(0, 1, 2, 0, 0), 1, false, "left over"},
	{PART(0, 1, MANY, 0, 0, 1, 2, 0), 2, false, "more events than a chunk"},
	{PART(2, 1, 2, 0), 1, false, "beyond the events"},
	{PART(1, 2, 3, 0, 0), 1, false, "beyond the events"},
	{PART(0, 2, 3, 0, 0), 1, true, "more than one thread"},
};

static void test_loops_that_are_wrong(void **state)
{
	struct image m;

	(void)state;
	for (size_t i = 0; i < sizeof wrong_loops / sizeof *wrong_loops; i++) {
		image_loops(&m, wrong_loops[i].loops, wrong_loops[i].count, wrong_loops[i].others);
		assert_refused(&m, wrong_loops[i].message);
	}
	image_loops(&m, (struct part)PART(0, 1, 5, 8, 0, 1, 3, 9), 2, true);
	image_end(&m, 5, 8);
	assert_accepted(&m, 8);
	image_loops(&m, (struct part)PART(0, 2, MANY, 8, 7), 1, false);
	image_end(&m, 5, BIN_LOOPS_MOST);
	assert_accepted(&m, BIN_LOOPS_MOST);
}

static const struct {
	struct part ways;
	uint32_t count;
	const char *message;
} wrong_ways[] = {
	{PART(0), 1, "a way that is cut short"},
	{PART(0, 0), 1, "of no width"},
	{PART(0, 9, 1, 2, 3, 4), 1, "of no width"},
	{PART(2, 1, 1, 2), 1, "of no item"},
	{PART(0, 1, 1, 2, 1, 1, 1, 2), 2, "of no item"},
	{PART(0, 1, 1, 2, 0, 1, 1, 2, 0, 1, 1), 3, "of no item"},
	{PART(0, 1, 1), 1, "differences of a way are cut short"},
	{PART(1, 8, 1, 2, 3, 4, 5, 6, 7), 1, "differences of a way are cut short"},
	{PART(0, 1, 1, 2, 3), 1, "left over"},
};

/* Two loops of an item each, of three events, two of which are behind the first round. */
static void test_ways_that_are_wrong(void **state)
{
	const struct part loops = PART(0, 1, 3, 0, 0, 1, 3, 0);
	static const unsigned char way[] = {0, 1, 2, 4};
	struct image m;

	(void)state;
	for (size_t i = 0; i < sizeof wrong_ways / sizeof *wrong_ways; i++) {
		image_ways(&m, loops, 2, true, wrong_ways[i].ways, wrong_ways[i].count);
		assert_refused(&m, wrong_ways[i].message);
	}
	image_tables(&m);
	image_raw(&m, CHUNK_WAYS, 2, 1, way, sizeof way);
	assert_refused(&m, "of no item");
	image_ways(&m, loops, 2, true, (struct part)PART(0, 1, 2, 4, 0, 2, 1, 0, 0, 1), 2);
	image_end(&m, 6, 6);
	assert_accepted(&m, 6);
	image_ways(&m, loops, 2, true, (struct part)PART(1, 8, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0), 1);
	image_end(&m, 6, 6);
	assert_accepted(&m, 6);
}

static const struct parts no_accesses[] = {
	{0},
	{TEMPLATE(EVENT_READ, BITS(0, EVENT_VALUED | EVENT_ADDRESSED), 0, 0), VALUES(0)},
	{TEMPLATE(EVENT_FREE, BITS(0, EVENT_ADDRESSED), 0, 0)},
};

/* A loop over what is no access to an address: a name's, and one with a value. */
static void test_loops_of_other_events(void **state)
{
	static const unsigned char loop[] = {0, 1, 2, 2};
	struct image m, events;

	(void)state;
	for (size_t i = 0; i < sizeof no_accesses / sizeof *no_accesses; i++) {
		size_t tables;

		image_tables(&m);
		tables = m.used;
		image_events(&events, &no_accesses[i]);
		image_raw(&m, CHUNK_LOOPS, 2, 1, loop, sizeof loop);
		image_raw(&m, CHUNK_EVENTS, 3, 1, events.at + tables + BIN_CHUNK_HEAD, load32(events.at + tables + 8));
		assert_refused(&m, "something else than accesses");
	}
}

/* Chunks whose counts are out of bounds, or that come before what they refer to. */
static void test_event_counts(void **state)
{
	unsigned char head[BIN_EVENTS_HEAD] = {0};
	struct image m;

	(void)state;
	image_tables(&m);
	image_raw(&m, CHUNK_EVENTS, 2, 0, head, sizeof head);
	assert_refused(&m, "without events");
	image_tables(&m);
	image_raw(&m, CHUNK_EVENTS, 2, BIN_EVENTS_MOST + 1, head, sizeof head);
	assert_refused(&m, "with too many");
	image_tables(&m);
	image_raw(&m, CHUNK_EVENTS, 2, 1, head, sizeof head - 1);
	assert_refused(&m, "without a head");
	store32(head, BIN_TEMPLATES_MOST + 1);
	image_tables(&m);
	image_raw(&m, CHUNK_EVENTS, 2, 1, head, sizeof head);
	assert_refused(&m, "too many templates");
	store32(head, 1);
	image_tables(&m);
	image_raw(&m, CHUNK_EVENTS, 2, 1, head, sizeof head);
	assert_refused(&m, "a template is cut short");
	store32(head, 0);
	store32(head + 4, UINT32_MAX);
	image_tables(&m);
	image_raw(&m, CHUNK_EVENTS, 2, 1, head, sizeof head);
	assert_refused(&m, "do not add up");
	image_header(&m, BIN_VERSION, 0);
	image_raw(&m, CHUNK_EVENTS, 0, 1, "\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0", 20);
	assert_refused(&m, "an empty table");
}

/* Takes the chunk at `from` apart and writes it again, not compressed, with some bytes of its payload changed. */
static size_t change_chunk(struct rng *r, struct image *to, const unsigned char *from, uint32_t changes)
{
	static unsigned char payload[1 << 16];
	uint32_t raw = load32(from + 8), stored = load32(from + 12);

	if (from[1] & CHUNK_ZSTD)
		assert_int_equal(ZSTD_decompress(payload, sizeof payload, from + BIN_CHUNK_HEAD, stored), raw);
	else
		memcpy(payload, from + BIN_CHUNK_HEAD, raw);
	for (; changes > 0; changes--)
		payload[rng_below(r, raw)] = (unsigned char)rng_next(r);
	image_raw(to, from[0], load16(from + 2), load32(from + 4), payload, raw);
	return BIN_CHUNK_HEAD + stored;
}

static bool in_table(const struct list *l, enum table_class class, uint64_t id)
{
	return id <= l->tables.names[class].count;
}

static void assert_sound(const struct list *l, const struct event *e)
{
	assert_true(e->kind > EVENT_NONE && e->kind < EVENT_KINDS && e->order < ORDERS);
	assert_true(e->thread > 0 && in_table(l, TABLE_THREAD, e->thread));
	assert_true(e->flags & EVENT_ADDRESSED || in_table(l, event_info[e->kind].table, e->object));
	assert_true(e->kind != EVENT_WAIT || (e->mutex > 0 && in_table(l, TABLE_SYNC, e->mutex)));
	assert_true(in_table(l, TABLE_SITE, e->site) && e->stack <= l->tables.stacks);
	assert_true(e->size <= EVENT_SIZE_MOST && (e->size > 0) == (e->flags & EVENT_SIZED));
}

/* Whatever stands in the chunks, as long as the checksums are right: what is handed out can be used. */
static void test_random_changes_with_right_checksums(void **state)
{
	struct list l, back;
	struct image m, changed;
	struct rng r = {3};

	(void)state;
	sample(&l, &m);
	for (int round = 0; round < 3000; round++) {
		image_header(&changed, BIN_VERSION, BIN_FEATURE_TRAILS);
		for (size_t at = BIN_HEADER; at < m.used;)
			at += change_chunk(&r, &changed, m.at + at, rng_below(&r, 3));
		file_put(&changed, changed.used);
		list_read(&back);
		for (size_t i = 0; i < back.count; i++)
			assert_sound(&back, &back.events[i]);
		arena_free(&back.arena);
	}
	arena_free(&l.arena);
}

/* The same of packed chunks, changed as they are stored; some with another length. */
static size_t change_stored(struct rng *r, struct image *to, const unsigned char *from)
{
	static unsigned char payload[1 << 16];
	struct chunk_head h = {.kind = from[0], .flags = from[1], .number = load16(from + 2), .entries = load32(from + 4),
		.raw = load32(from + 8), .stored = load32(from + 12)};

	memcpy(payload, from + BIN_CHUNK_HEAD, h.stored);
	if (h.flags & CHUNK_PACKED) {
		payload[rng_below(r, rng_below(r, 2) ? h.stored : 4)] = (unsigned char)rng_next(r);
		h.raw += rng_below(r, 4) ? 0 : rng_below(r, 5) - 2;
		h.entries += rng_below(r, 4) ? 0 : rng_below(r, 5) - 2;
	}
	image_chunk(to, h, payload, h.stored);
	return BIN_CHUNK_HEAD + load32(from + 12);
}

/* Events that come as they came before, written in a hurry. */
static void sample_packed(struct list *l, struct image *m, size_t times)
{
	size_t once;

	list_random(l, 5, 3, 5);
	once = l->count;
	for (size_t i = 0; i < times * once; i++) {
		struct event e = l->events[i % once];

		list_add(l, &e);
	}
	hurried = true;
	list_write(l, true);
	hurried = false;
	file_get(m);
}

static void test_packed_with_random_changes(void **state)
{
	struct list l, back;
	struct image m, changed;
	struct rng r = {4};
	size_t packed = 0;

	(void)state;
	sample_packed(&l, &m, 20);
	for (int round = 0; round < 3000; round++) {
		image_header(&changed, BIN_VERSION, BIN_FEATURE_PACKED);
		for (size_t at = BIN_HEADER; at < m.used;) {
			packed += m.at[at + 1] == CHUNK_PACKED;
			at += change_stored(&r, &changed, m.at + at);
		}
		file_put(&changed, changed.used);
		list_read(&back);
		for (size_t i = 0; i < back.count; i++)
			assert_sound(&back, &back.events[i]);
		arena_free(&back.arena);
	}
	assert_true(packed >= 3000);
	arena_free(&l.arena);
}

/* What is written in a hurry is the same, whole or not. */
static void test_in_a_hurry(void **state)
{
	hurried = true;
	test_round_trips(state);
	test_round_trips_over_chunks(state);
	test_loops_round_trip(state);
	test_cut_anywhere(state);
	test_changed_anywhere(state);
	hurried = false;
}

/* Who does not know of packed chunks is told by the header. */
static void test_packed_needs_its_feature(void **state)
{
	struct list l;
	struct image m;

	(void)state;
	sample_packed(&l, &m, 200);
	assert_int_equal(load32(m.at + 12), BIN_FEATURE_PACKED);
	store32(m.at + 12, 0);
	store64(m.at + 16, hash_bytes(m.at, 16));
	assert_refused(&m, "unknown kind of chunk");
	arena_free(&l.arena);
}

/* One span of thread 1, of these bytes, behind so many events, of which there are none. */
static void image_trail(struct image *m, const struct trail_bytes *b, unsigned char before, uint32_t features)
{
	static const unsigned char names[] = {TABLE_THREAD, 1, 'T', TABLE_CODE, 1, 'f', TABLE_SITE, 1, 's'};
	unsigned char span[2 + VARINT_MOST] = {before, 1};

	image_header(m, BIN_VERSION, features);
	image_raw(m, CHUNK_STRINGS, 0, 3, names, sizeof names);
	image_raw(m, CHUNK_SPANS, 1, 1, span, 2 + varint_put(span + 2, b->used << 1));
	image_raw(m, CHUNK_TRAILS, 2, 0, b->at, b->used);
	image_end(m, 3, 0);
}

/* Of each token and note one, in one span. */
static void sample_trail(struct trail_bytes *b, struct list *l)
{
	*b = (struct trail_bytes){.thread = 1};
	list_init(l);
	trail_define(b);
	trail_accesses(b, l);
	trail_calls(b, l);
}

static void test_trails_that_are_right(void **state)
{
	struct trail_bytes b;
	struct image m;
	struct list l;

	(void)state;
	sample_trail(&b, &l);
	image_trail(&m, &b, 0, BIN_FEATURE_TRAILS);
	assert_accepted(&m, l.count);
	image_trail(&m, &b, 1, BIN_FEATURE_TRAILS);
	assert_refused(&m, "spans are behind events that do not come");
	image_trail(&m, &b, 0, 0);
	assert_refused(&m, "unknown kind of chunk");
	b.at[b.used++] = 0;
	image_trail(&m, &b, 0, BIN_FEATURE_TRAILS);
	assert_refused(&m, "a token of a trail is cut short");
	arena_free(&l.arena);
}

/* Behind what defines places 1 to 4. */
static const struct {
	uint64_t word;
	size_t bytes;
	const char *message;
} bad_tokens[] = {
	{7 << TRAIL_TOKEN_BITS, 2, "not defined"},
	{7 << TRAIL_TOKEN_BITS | TRAIL_MISS, 6, "not defined"},
	{A_READ << TRAIL_TOKEN_BITS | TRAIL_MISS, 5, "cut short"},
	{A_READ << TRAIL_TOKEN_BITS | TRAIL_MISS | (uint64_t)0x80000000 << 16, 8, "cut short"},
	{TRAIL_SLIPPED, 3, "cut short"},
	{TRAIL_MISS, 8, "a note of a trail is cut short"},
	{AN_ENTRY << TRAIL_TOKEN_BITS, 2, "has no depth"},
	{AN_ENTRY << TRAIL_TOKEN_BITS | TRAIL_MISS | (uint64_t)TRAIL_DEPTHS << 16, 6, "too deep"},
	{(TRAIL_COUNT_MOST + 1) << TRAIL_TOKEN_BITS | TRAIL_COUNTED, 2, "a count of a trail that cannot be"},
};

static const struct {
	struct trail_note note;
	const char *message;
} bad_notes[] = {
	{{.sort = TRAIL_SORTS}, "an unknown sort of note"},
	{{.sort = TRAIL_DEFINE, .kind = TRAIL_READ, .size = 4}, "a place of a trail that cannot be"},
	{{.sort = TRAIL_DEFINE, .kind = TRAIL_READ, .place = 1}, "a place of a trail that cannot be"},
	{{.sort = TRAIL_DEFINE, .kind = TRAIL_ENTRY, .place = 1}, "a place of a trail that cannot be"},
	{{.sort = TRAIL_DEFINE, .kind = TRAIL_KINDS, .place = 1}, "a place of a trail that cannot be"},
	{{.sort = TRAIL_DEFINE, .kind = TRAIL_LEAVE, .place = TRAIL_PLACES}, "a place of a trail that cannot be"},
	{{.sort = TRAIL_ENTER}, "enters no function"},
	{{.sort = TRAIL_EXIT, .site = 2}, "not in the tables"},
	{{.sort = TRAIL_ENTER, .code = 2}, "not in the tables"},
	{{.sort = TRAIL_COUNT, .depth = TRAIL_COUNT_MOST + 1}, "a count of a trail that cannot be"},
};

static void test_trails_that_are_wrong(void **state)
{
	struct image m;

	(void)state;
	for (size_t i = 0; i < sizeof bad_tokens / sizeof *bad_tokens; i++) {
		struct trail_bytes b = {.thread = 1};

		trail_define(&b);
		trail_add(&b, bad_tokens[i].word, bad_tokens[i].bytes);
		image_trail(&m, &b, 0, BIN_FEATURE_TRAILS);
		assert_refused(&m, bad_tokens[i].message);
	}
	for (size_t i = 0; i < sizeof bad_notes / sizeof *bad_notes; i++) {
		struct trail_bytes b = {.thread = 1};

		trail_note(&b, bad_notes[i].note);
		image_trail(&m, &b, 0, BIN_FEATURE_TRAILS);
		assert_refused(&m, bad_notes[i].message);
	}
}

/* A count is two bytes for thousands of events: compressed, a few would be more than anybody can read. */
static void test_trails_are_not_compressed(void **state)
{
	static const unsigned char payload[8];
	struct image m;

	(void)state;
	image_header(&m, BIN_VERSION, BIN_FEATURE_TRAILS);
	image_chunk(&m, (struct chunk_head){.kind = CHUNK_TRAILS, .flags = CHUNK_ZSTD, .raw = 99, .stored = sizeof payload},
		payload, sizeof payload);
	assert_refused(&m, "unknown kind of chunk");
}

/* Nothing is defined yet, so nothing can come behind. */
static void test_trail_of_nothing(void **state)
{
	struct trail_bytes b = {.thread = 1};
	struct image m;

	(void)state;
	trail_add(&b, 1 << TRAIL_TOKEN_BITS | TRAIL_COUNTED, 2);
	image_trail(&m, &b, 0, BIN_FEATURE_TRAILS);
	assert_refused(&m, "expected and not defined");
}

static void trail_count(struct trail_bytes *b, int times)
{
	for (int i = 0; i < times; i++)
		trail_add(b, TRAIL_COUNT_MOST << TRAIL_TOKEN_BITS | TRAIL_COUNTED, 2);
}

/*
 * Many functions are open, each deeper than the one before; many exits are deeper than all of them, and ask for one that has
 * gone from where none is. None of them leaves anything. Were it looked for among all that are open, that would take
 * half an hour.
 */
static void test_trail_of_exits_from_nothing(void **state)
{
	enum { TIMES = 13, ENTRIES = 2 + TIMES * TRAIL_COUNT_MOST, EXITS = 500, FROM_NOTHING = 5, UNIT = TRAIL_UNIT };
	struct trail_bytes b = {.thread = 1};
	struct image m;

	(void)state;
	trail_define(&b);
	trail_note(&b, (struct trail_note){.sort = TRAIL_DEFINE, .place = FROM_NOTHING, .kind = TRAIL_LEAVE, .site = 1,
		.key = -(uint64_t)(ENTRIES + 1) * UNIT});
	trail_miss(&b, AN_ENTRY, UNIT);
	trail_add(&b, AN_ENTRY << TRAIL_TOKEN_BITS, 2);
	trail_count(&b, TIMES);
	trail_miss(&b, FROM_NOTHING, UNIT);
	trail_miss(&b, FROM_NOTHING, 0);
	trail_count(&b, EXITS);
	trail_note(&b, (struct trail_note){.sort = TRAIL_FINISH, .site = 1});
	image_trail(&m, &b, 0, BIN_FEATURE_TRAILS);
	assert_accepted(&m, 2 * ENTRIES);
}

/* A seed for fuzzing, which is no test: nothing else has trails without the paths of a machine. */
static int write_seed(const char *to)
{
	struct trail_bytes b;
	struct image m;
	struct list l;
	FILE *f = fopen(to, "wb");
	bool written;

	sample_trail(&b, &l);
	image_trail(&m, &b, 0, BIN_FEATURE_TRAILS);
	written = f && fwrite(m.at, 1, m.used, f) == m.used;
	arena_free(&l.arena);
	return f && !fclose(f) && written ? 0 : 1;
}

/* A file in memory, if the system has a place for it. */
static int setup(void **state)
{
	int fd;

	(void)state;
	strcpy(path, "/dev/shm/test_trace_bin.XXXXXX");
	fd = mkstemp(path);
	if (fd < 0) {
		strcpy(path, "/tmp/test_trace_bin.XXXXXX");
		fd = mkstemp(path);
	}
	close(fd);
	return fd < 0;
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trips),
		cmocka_unit_test(test_round_trips_over_chunks),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_cut_says_where),
		cmocka_unit_test(test_changed_anywhere),
		cmocka_unit_test(test_numbers_of_others),
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_control_characters_are_not_written),
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_chunk_heads),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_table_entries),
		cmocka_unit_test(test_events_that_are_right),
		cmocka_unit_test(test_events_that_are_wrong),
		cmocka_unit_test(test_loops_round_trip),
		cmocka_unit_test(test_loops_that_are_wrong),
		cmocka_unit_test(test_ways_that_are_wrong),
		cmocka_unit_test(test_loops_of_other_events),
		cmocka_unit_test(test_event_counts),
		cmocka_unit_test(test_random_changes_with_right_checksums),
		cmocka_unit_test(test_packed_with_random_changes),
		cmocka_unit_test(test_in_a_hurry),
		cmocka_unit_test(test_packed_needs_its_feature),
		cmocka_unit_test(test_trails_that_are_right),
		cmocka_unit_test(test_trails_that_are_wrong),
		cmocka_unit_test(test_trails_are_not_compressed),
		cmocka_unit_test(test_trail_of_nothing),
		cmocka_unit_test(test_trail_of_exits_from_nothing),
	};

	if (argc == 3 && !strcmp(argv[1], "--seed"))
		return write_seed(argv[2]);
	return cmocka_run_group_tests_name("trace_bin", tests, setup, teardown);
}
