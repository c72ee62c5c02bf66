/* SPDX-License-Identifier: MIT */
/*
 * Writes binary traces; trace_bin.h has the layout.
 *
 * Events are gathered in columns until a chunk is full. Then whatever the tables have got since the last chunk is sent
 * on its way (trace_bin_way.h), and the columns behind it: so everything that an event refers to stands before it, and
 * a trace can be written while it is read. Everything lives in the writer's arena; nothing is left to free when it is
 * abandoned but what the way has.
 *
 * Events carry what their kind has; anything else in them is not written. An id that is not in the tables is a bug
 * of the caller.
 */
#include "trace_bin.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "event/brief.h"
#include "event/trace.h"
#include "event/trace_bin_columns.h"
#include "event/trace_bin_way.h"
#include "event/varint.h"

enum {
	TABLE_CHUNK = 1 << 20,   /* about the length of a table chunk */
	TRAIL_CHUNK = 1 << 18,   /* likewise, of trails */
	SLOTS = 2 * BIN_TEMPLATES_MOST,
};

struct template {
	uint64_t bits;  /* kind, order, flags, size */
	uint64_t where; /* site, stack */
	uint64_t pc;
};

struct bin_writer {
	struct column templates, runs, heads, objects, values; /* of the chunk being gathered */
	struct column addresses; /* of its templates */
	struct column loops;     /* of its events */
	uint32_t loop_count, loop_events, loop_end; /* of loops; events that they stand for; events up to the last one */
	struct column ways;      /* of their items without strides */
	uint32_t loop_items, way_count, way_end; /* of loops; of ways; items up to the last one */
	struct column spans, trails; /* those between its events */
	uint32_t span_count;
	thread_id span_thread;   /* of the last one; 0: it has ended */
	bool span_silent;        /* likewise */
	bool trailed;            /* there may be some */
	uint64_t span_at, span_bytes; /* likewise: behind how many events of the chunk, so many bytes */
	uint64_t span_end;       /* events up to the last one that has ended */
	bool addressed;          /* any of them is known */
	uint64_t pc;             /* of the newest template */
	struct column payload; /* of the chunk that is written next */
	bool begun;            /* the header is written */
	struct bin_way way;
	struct template *template;
	uint64_t *last; /* by template: the object of its latest event */
	uint16_t *slot; /* hash of a template to its number + 1 */
	uint32_t template_count;
	uint32_t chunk;  /* which one is being gathered, from 1 */
	uint32_t latest; /* template of the newest event */
	site_id site; /* of the newest template */
	uint32_t events;
	thread_id thread;
	uint32_t run; /* events of `thread` in a row so far */
	uint32_t names[TABLE_CLASSES], stacks; /* written so far */
	size_t modules;
};

static void column_bytes(struct trace_writer *w, struct column *c, const void *bytes, size_t n)
{
	if (n == 0)
		return;
	memcpy(column_room(w->arena, c, n), bytes, n);
	c->used += n;
}

static void column_varint(struct trace_writer *w, struct column *c, uint64_t x)
{
	c->used += varint_put(column_room(w->arena, c, VARINT_MOST), x);
}

/* The low n bytes of a number; storing all of them is faster than counting. */
static void column_word(struct trace_writer *w, struct column *c, uint64_t x, size_t n)
{
	store64(column_room(w->arena, c, sizeof x), x);
	c->used += n;
}

static void column_text(struct trace_writer *w, struct column *c, struct text t)
{
	struct bin_writer *s = w->state;

	if (!bin_text_fits(t.at, t.length)) {
		bin_way_rest(&s->way);
		fault_set(&w->output.fault, STATUS_TRACE,
			"%s: a name with a control character cannot stand in a binary trace", w->output.name);
	}
	column_varint(w, c, t.length);
	column_bytes(w, c, t.at, t.length);
}

/* What it must say is known when the first chunk is. */
static void header_write(struct trace_writer *w, struct bin_writer *s)
{
	unsigned char header[BIN_HEADER] = {0};

	s->begun = true;
	memcpy(header, bin_magic, BIN_MAGIC);
	store16(header + 8, BIN_VERSION);
	store32(header + 12, (s->way.hurried ? BIN_FEATURE_PACKED : 0) | (s->trailed ? BIN_FEATURE_TRAILS : 0));
	store64(header + 16, hash_bytes(header, 16));
	output_write(&w->output, header, sizeof header);
}

/* Sends the payload as a chunk and empties it. */
static void chunk_write(struct trace_writer *w, enum chunk_kind kind, uint32_t entries)
{
	struct bin_writer *s = w->state;

	if (!s->begun)
		header_write(w, s);
	bin_way_send(&s->way, kind, entries, &s->payload);
}

/* Counts an entry of a table chunk, and writes the chunk when it is large enough. */
static void entry_done(struct trace_writer *w, enum chunk_kind kind, uint32_t *entries)
{
	const struct bin_writer *s = w->state;

	++*entries;
	if (s->payload.used < TABLE_CHUNK)
		return;
	chunk_write(w, kind, *entries);
	*entries = 0;
}

static void strings_write(struct trace_writer *w, struct bin_writer *s)
{
	uint32_t entries = 0;

	for (int class = TABLE_NONE + 1; class < TABLE_CLASSES; class++)
		while (s->names[class] < w->tables->names[class].count) {
			column_word(w, &s->payload, (uint64_t)class, 1);
			column_text(w, &s->payload, tables_name(w->tables, class, ++s->names[class]));
			entry_done(w, CHUNK_STRINGS, &entries);
		}
	if (entries)
		chunk_write(w, CHUNK_STRINGS, entries);
}

static void stacks_write(struct trace_writer *w, struct bin_writer *s)
{
	uint32_t entries = 0;

	while (s->stacks < w->tables->stacks) {
		struct frame f = tables_frame(w->tables, ++s->stacks);

		column_varint(w, &s->payload, f.parent);
		column_varint(w, &s->payload, f.code);
		column_varint(w, &s->payload, f.site);
		entry_done(w, CHUNK_STACKS, &entries);
	}
	if (entries)
		chunk_write(w, CHUNK_STACKS, entries);
}

static void modules_write(struct trace_writer *w, struct bin_writer *s)
{
	uint32_t entries = 0;

	while (s->modules < w->tables->module_count) {
		const struct module *m = &w->tables->modules[s->modules++];

		column_text(w, &s->payload, m->path);
		column_text(w, &s->payload, m->build_id);
		column_varint(w, &s->payload, m->base);
		column_varint(w, &s->payload, m->size);
		entry_done(w, CHUNK_MODULES, &entries);
	}
	if (entries)
		chunk_write(w, CHUNK_MODULES, entries);
}

static void run_end(struct trace_writer *w, struct bin_writer *s)
{
	if (!s->run)
		return;
	column_varint(w, &s->runs, s->thread);
	column_varint(w, &s->runs, s->run);
	s->run = 0;
}

static void addresses_write(struct trace_writer *w, struct bin_writer *s)
{
	if (s->addressed) {
		column_bytes(w, &s->payload, s->addresses.at, s->addresses.used);
		chunk_write(w, CHUNK_ADDRESSES, s->template_count);
	}
	s->addresses.used = 0;
	s->addressed = false;
	s->pc = 0;
}

static void loops_write(struct trace_writer *w, struct bin_writer *s)
{
	if (!s->loop_count)
		return;
	column_bytes(w, &s->payload, s->loops.at, s->loops.used);
	chunk_write(w, CHUNK_LOOPS, s->loop_count);
	s->loops.used = 0;
	s->loop_count = s->loop_events = s->loop_end = s->loop_items = s->way_end = 0;
	if (!s->way_count)
		return;
	column_bytes(w, &s->payload, s->ways.at, s->ways.used);
	chunk_write(w, CHUNK_WAYS, s->way_count);
	s->ways.used = s->way_count = 0;
}

/* Events that the chunk stands for. */
static uint64_t events_so_far(const struct bin_writer *s)
{
	return (uint64_t)s->events + s->loop_events - s->loop_items;
}

static void span_end(struct trace_writer *w, struct bin_writer *s)
{
	if (!s->span_thread)
		return;
	column_varint(w, &s->spans, s->span_at - s->span_end);
	column_varint(w, &s->spans, s->span_thread);
	column_varint(w, &s->spans, s->span_bytes << 1 | s->span_silent);
	s->span_end = s->span_at;
	s->span_thread = 0;
	s->span_count++;
}

/* The trails go as they are, and are not copied. */
static void spans_write(struct trace_writer *w, struct bin_writer *s)
{
	struct column trails = s->trails;

	span_end(w, s);
	s->span_end = 0;
	if (!s->span_count)
		return;
	column_bytes(w, &s->payload, s->spans.at, s->spans.used);
	chunk_write(w, CHUNK_SPANS, s->span_count);
	s->spans.used = s->span_count = 0;
	s->trails = s->payload;
	s->payload = trails;
	chunk_write(w, CHUNK_TRAILS, 0);
}

static void events_write(struct trace_writer *w, struct bin_writer *s)
{
	struct column *part[] = {&s->templates, &s->runs, &s->heads, &s->objects, &s->values};
	unsigned char head[BIN_EVENTS_HEAD];

	addresses_write(w, s);
	loops_write(w, s);
	run_end(w, s);
	store32(head, s->template_count);
	store32(head + 4, (uint32_t)s->runs.used);
	store32(head + 8, (uint32_t)s->objects.used);
	store32(head + 12, (uint32_t)s->values.used);
	column_bytes(w, &s->payload, head, sizeof head);
	for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
		column_bytes(w, &s->payload, part[i]->at, part[i]->used);
		part[i]->used = 0;
	}
	chunk_write(w, CHUNK_EVENTS, s->events);
	memset(s->slot, 0, SLOTS * sizeof *s->slot);
	s->events = s->template_count = s->site = 0;
	s->chunk++;
}

void trace_bin_flush(struct trace_writer *w)
{
	struct bin_writer *s = w->state;

	strings_write(w, s);
	stacks_write(w, s);
	modules_write(w, s);
	spans_write(w, s);
	if (s->events)
		events_write(w, s);
}

void trace_bin_start(struct trace_writer *w)
{
	struct bin_writer *s = arena_alloc(w->arena, sizeof *s);

	s->template = arena_alloc(w->arena, BIN_TEMPLATES_MOST * sizeof *s->template);
	s->last = arena_alloc(w->arena, BIN_TEMPLATES_MOST * sizeof *s->last);
	s->slot = arena_alloc(w->arena, SLOTS * sizeof *s->slot);
	s->chunk = 1;
	bin_way_init(&s->way, w->arena, &w->output);
	w->state = s;
}

void trace_bin_hurry(struct trace_writer *w)
{
	struct bin_writer *s = w->state;

	s->way.hurried = true;
	output_hasten(&w->output);
}

void trace_bin_trails(struct trace_writer *w)
{
	struct bin_writer *s = w->state;

	s->trailed = true;
}

void trace_bin_beside(struct trace_writer *w)
{
	struct bin_writer *s = w->state;

	s->way.wanted = true;
}

void trace_bin_drop(struct trace_writer *w)
{
	struct bin_writer *s = w->state;

	bin_way_free(&s->way);
}

void trace_bin_finish(struct trace_writer *w)
{
	struct bin_writer *s = w->state;

	bin_way_end(&s->way);
	trace_bin_flush(w);
	column_word(w, &s->payload, w->events, 8);
	chunk_write(w, CHUNK_END, 0);
	bin_way_free(&s->way);
}

static bool names_something(const struct tables *t, enum table_class class, uint64_t id, uint8_t part)
{
	return part == PART_NEVER || (id == 0 ? part == PART_MAYBE : id <= t->names[class].count);
}

/* What the reader would refuse is refused here, where the culprit is on the stack. */
static bool is_sound(const struct tables *t, const struct event *e, struct bin_parts parts)
{
	enum table_class class = event_info[e->kind].table;

	return names_something(t, TABLE_THREAD, e->thread, PART_ALWAYS) &&
	       names_something(t, TABLE_SITE, e->site, PART_MAYBE) && e->stack <= t->stacks &&
	       (e->flags & parts.flags & EVENT_ADDRESSED || names_something(t, class, e->object, parts.object)) &&
	       (e->kind != EVENT_WAIT || names_something(t, class, e->mutex, PART_ALWAYS)) &&
	       (e->kind != EVENT_BARRIER || e->count > 0) &&
	       (!parts.order || (e->order > ORDER_NONE && e->order < ORDERS)) &&
	       (!(e->flags & parts.flags & EVENT_SIZED) || (e->size > 0 && e->size <= EVENT_SIZE_MOST));
}

static uint8_t flags_of(const struct event *e, struct bin_parts parts)
{
	uint8_t flags = e->flags & parts.flags;

	if (!(flags & EVENT_VALUED) || e->value <= INT64_MAX)
		flags &= (uint8_t)~EVENT_UNSIGNED;
	return flags;
}

static struct template template_of(const struct event *e, struct bin_parts parts)
{
	uint64_t flags = flags_of(e, parts), order = parts.order ? e->order : ORDER_NONE;
	uint64_t size = flags & EVENT_SIZED ? e->size : 0;

	return (struct template){.bits = size << 32 | order << 12 | flags << 8 | e->kind,
		.where = (uint64_t)e->stack << 32 | e->site, .pc = e->pc};
}

static void template_add(struct trace_writer *w, struct bin_writer *s, struct template m)
{
	site_id site = (site_id)m.where;

	column_word(w, &s->templates, m.bits & 0xffff, 2);
	if (m.bits >> 8 & EVENT_SIZED)
		column_varint(w, &s->templates, m.bits >> 32);
	column_varint(w, &s->templates, zigzag((uint64_t)site - s->site));
	column_varint(w, &s->templates, m.where >> 32);
	column_varint(w, &s->addresses, zigzag(m.pc - s->pc));
	s->addressed |= m.pc != 0;
	s->pc = m.pc;
	s->site = site;
	s->last[s->template_count] = 0;
	s->template[s->template_count++] = m;
}

/* The number of the template, new if the chunk does not have it yet. There must be room for a new one. */
static uint32_t template_number(struct trace_writer *w, struct bin_writer *s, struct template m)
{
	uint64_t i = hash_word(m.bits * 31 ^ m.where ^ m.pc * 7) % SLOTS;

	for (; s->slot[i]; i = (i + 1) % SLOTS) {
		const struct template *have = &s->template[s->slot[i] - 1];

		if (have->bits == m.bits && have->where == m.where && have->pc == m.pc)
			return s->slot[i] - 1u;
	}
	template_add(w, s, m);
	s->slot[i] = (uint16_t)s->template_count;
	return s->template_count - 1;
}

/* Without a branch for 0: who writes a million of them an instant cannot guess. */
static inline unsigned bytes_of(uint64_t x)
{
	return x >> 63 ? 8 : (70 - (unsigned)__builtin_clzll(x << 1 | 1)) / 8;
}

static void put_object(struct trace_writer *w, struct bin_writer *s, uint32_t number, uint64_t object)
{
	uint64_t z = zigzag(object - s->last[number]);
	unsigned code = bin_width_code(z);

	s->latest = number;
	s->last[number] = object;
	column_word(w, &s->heads, number << BIN_WIDTH_BITS | code, 2);
	column_word(w, &s->objects, z, bin_width[code]);
}

static void put_value(struct trace_writer *w, struct bin_writer *s, uint64_t value)
{
	column_word(w, &s->values, bytes_of(value), 1);
	column_word(w, &s->values, value, bytes_of(value));
}

static void put_thread(struct trace_writer *w, struct bin_writer *s, thread_id thread, uint32_t n)
{
	if (thread != s->thread)
		run_end(w, s);
	s->thread = thread;
	s->run += n;
}

void trace_bin_put(struct trace_writer *w, const struct event *e)
{
	struct bin_writer *s = w->state;
	struct bin_parts parts;
	struct template m;

	assert(e->kind > EVENT_NONE && e->kind < EVENT_KINDS);
	parts = bin_parts_of(e->kind);
	assert(is_sound(w->tables, e, parts));
	m = template_of(e, parts);
	put_thread(w, s, e->thread, 1);
	put_object(w, s, template_number(w, s, m), parts.object ? e->object : 0);
	if (parts.value == PART_ALWAYS || (parts.value == PART_MAYBE && e->flags & EVENT_VALUED))
		put_value(w, s, e->value);
	if (++s->events == BIN_EVENTS_MOST || s->template_count == BIN_TEMPLATES_MOST)
		trace_bin_flush(w);
}

/* In brief. A place's note is the chunk that is being gathered, and the number of its template there. */

/* The way of all events; from now on its template is known. */
static void put_first(struct trace_writer *w, struct bin_writer *s, const struct briefs *b)
{
	struct event e = brief_event(b, 0);
	uint32_t chunk = s->chunk;

	trace_bin_put(w, &e);
	b->place[b->at->place].note = (uint64_t)chunk << 32 | s->latest;
}

/* As is_sound, of what a place does not say: which functions are called. */
static bool are_sound(const struct tables *t, const struct briefs *b)
{
	for (size_t i = 0; i < b->calls; i++)
		if (!names_something(t, TABLE_CODE, b->call[i]->object, PART_ALWAYS))
			return false;
	return true;
}

/* Columns that are open. */

bool trace_bin_columns(struct trace_writer *w, thread_id thread, struct bin_columns *c)
{
	struct bin_writer *s = w->state;

	c->room = BIN_EVENTS_MOST - 1 - s->events;
	if (!c->room)
		return false;
	if (thread != s->thread)
		run_end(w, s);
	s->thread = thread;
	c->head = column_room(w->arena, &s->heads, 2 * c->room);
	c->object = column_room(w->arena, &s->objects, 8 * c->room + 8);
	c->last = s->last;
	c->chunk = s->chunk;
	return true;
}

static size_t columns_end(struct bin_writer *s, const struct bin_columns *c)
{
	size_t n = (size_t)(c->head - s->heads.at - s->heads.used) / 2;

	s->heads.used += 2 * n;
	s->objects.used = (size_t)(c->object - s->objects.at);
	s->run += (uint32_t)n;
	s->events += (uint32_t)n;
	return n;
}

size_t trace_bin_columns_end(struct trace_writer *w, const struct bin_columns *c)
{
	size_t n = columns_end(w->state, c);

	w->events += n;
	return n;
}

/* As many as have known templates. `c` is nobody else's, so that what stays the same is not looked for again. */
static size_t put_known(struct trace_writer *w, struct bin_writer *s, const struct briefs *b)
{
	const struct brief_place *place = b->place;
	const struct brief *e = b->at, *end;
	struct bin_columns open, c;

	if (!trace_bin_columns(w, b->thread, &open))
		return 0;
	c = open;
	for (end = e + (b->count < c.room ? b->count : c.room); e < end; e++) {
		uint64_t note = place[e->place].note;

		if (!bin_columns_know(&c, note))
			break;
		bin_columns_put(&c, note, e->object);
	}
	return columns_end(s, &c);
}

void trace_bin_put_briefs(struct trace_writer *w, const struct briefs *b)
{
	struct bin_writer *s = w->state;

	assert(are_sound(w->tables, b));
	for (struct briefs rest = *b; rest.count; rest = briefs_from(&rest, 1)) {
		rest = briefs_from(&rest, put_known(w, s, &rest));
		if (!rest.count)
			break;
		put_first(w, s, &rest);
	}
}

/* Trails. */

void trace_bin_put_trail(struct trace_writer *w, thread_id thread, const void *bytes, size_t n, bool silent)
{
	struct bin_writer *s = w->state;
	uint64_t at = events_so_far(s);

	if (s->span_thread != thread || s->span_at != at || s->span_silent != silent) {
		span_end(w, s);
		s->span_thread = thread;
		s->span_silent = silent;
		s->span_at = at;
		s->span_bytes = 0;
	}
	column_bytes(w, &s->trails, bytes, n);
	s->span_bytes += n;
	if (s->trails.used >= TRAIL_CHUNK || s->span_count >= BIN_SPANS_MOST - 2)
		trace_bin_flush(w);
}

/* Loops. */

/* Room in the chunk for all of its items, and templates for each; the loop itself may be cut into more than one. */
static void loop_room(struct trace_writer *w, const struct bin_writer *s, uint32_t items)
{
	if (s->events + items >= BIN_EVENTS_MOST || s->template_count + items >= BIN_TEMPLATES_MOST ||
		s->loop_events + 2 * BIN_LOOP_MOST > BIN_LOOPS_MOST)
		trace_bin_flush(w);
}

/* The first round, as events of their own. False: two of its items have the same template, and share its object. */
static bool loop_first(struct trace_writer *w, struct bin_writer *s, const struct brief_loop *l, uint64_t from,
	uint32_t number[])
{
	bool apart = true;

	for (uint32_t i = 0; i < l->items; i++) {
		struct event e = brief_loop_event(l, from + i);

		trace_bin_put(w, &e);
		number[i] = s->latest;
		for (uint32_t j = 0; j < i; j++)
			apart &= number[i] != number[j];
	}
	return apart;
}

/* Addresses of an item of a loop, without a stride: so many, and one before them, each so many places behind the last. */
struct way {
	const uint64_t *object;
	uint64_t count;
	uint32_t items;
};

/* What is set in any of the differences; 0: all are the same. */
static uint64_t way_bits(const struct way *y, uint64_t *stride)
{
	const uint64_t *at = y->object;
	uint64_t bits = 0, unlike = 0;

	*stride = y->count ? at[y->items] - at[0] : 0;
	for (uint64_t i = 0; i < y->count; i++, at += y->items) {
		uint64_t d = at[y->items] - at[0];

		bits |= zigzag(d);
		unlike |= d ^ *stride;
	}
	return unlike ? bits : 0;
}

static void way_write(struct trace_writer *w, struct bin_writer *s, const struct way *y, unsigned width)
{
	const uint64_t *at = y->object;
	unsigned char *to;

	column_varint(w, &s->ways, s->loop_items - s->way_end);
	column_word(w, &s->ways, width, 1);
	to = column_room(w->arena, &s->ways, y->count * width + sizeof *at);
	for (uint64_t i = 0; i < y->count; i++, at += y->items, to += width)
		store64(to, zigzag(at[y->items] - at[0]));
	s->ways.used = (size_t)(to - s->ways.at);
	s->way_end = s->loop_items + 1;
	s->way_count++;
}

/* The stride of the chunk's next item; 0 if it has a way. */
static uint64_t way_stride(struct trace_writer *w, struct bin_writer *s, const struct way *y)
{
	uint64_t stride, bits = way_bits(y, &stride);

	if (!bits)
		return stride;
	way_write(w, s, y, bytes_of(bits));
	return 0;
}

/* As many rounds of the loop, from that event on, as the chunk has room for; no fewer than one. Returns how many events. */
static uint64_t loop_put(struct trace_writer *w, struct bin_writer *s, const struct brief_loop *l, uint64_t from)
{
	uint64_t count = l->count - from, room;
	uint32_t number[BIN_LOOP_MOST];

	loop_room(w, s, l->items);
	room = (BIN_LOOPS_MOST - s->loop_events) / l->items * l->items;
	count = count < room ? count : room;
	if (!loop_first(w, s, l, from, number))
		return l->items;
	column_varint(w, &s->loops, s->events - l->items - s->loop_end);
	column_varint(w, &s->loops, l->items);
	column_varint(w, &s->loops, count);
	for (uint32_t i = 0; i < l->items; i++, s->loop_items++) {
		uint64_t later = (count - 1 - i) / l->items;
		uint64_t stride = l->stride ? l->stride[i] : way_stride(w, s, &(struct way){l->object + from + i, later, l->items});

		column_varint(w, &s->loops, zigzag(stride));
		s->last[number[i]] = brief_loop_object(l, from + i + later * l->items);
	}
	s->loop_end = s->events;
	s->loop_count++;
	s->loop_events += (uint32_t)count;
	return count;
}

void trace_bin_put_loop(struct trace_writer *w, const struct brief_loop *l)
{
	struct bin_writer *s = w->state;
	uint64_t done = 0;

	while (l->items && l->items <= BIN_LOOP_MOST && l->count - done > l->items)
		done += loop_put(w, s, l, done);
	for (; done < l->count; done++) {
		struct event e = brief_loop_event(l, done);

		trace_bin_put(w, &e);
	}
}
