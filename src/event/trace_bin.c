/* SPDX-License-Identifier: MIT */
/*
 * Reads binary traces; trace_bin.h has the layout, trace_bin_events.c takes events chunks apart,
 * trace_bin_write.c is the other direction.
 *
 * One chunk is in memory at a time, so memory follows the largest chunk and the tables and not the length of the
 * trace. Lengths are checked before anything is allocated for them.
 *
 * The file numbers names and stacks by itself. As long as nobody else adds to the tables, its numbers are theirs;
 * from the first that differs on (`renumbered`), the ids of events are translated behind the decoder.
 */
#include "trace_bin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/arena.h"
#include "base/hash.h"
#include "event/trace.h"
#include "event/trace_bin_events.h"
#include "event/trace_bin_pack.h"
#include "event/trail.h"

/* The file's numbers to the tables' ids, for one class or for stacks. */
struct numbering {
	uint32_t *id; /* by number; number 0 stays 0 */
	size_t capacity;
};

/* A part of a trail, behind so many events that come after the one before. */
struct span {
	uint32_t before;
	thread_id thread;
	uint32_t bytes;
	bool silent;
};

struct bin_reader {
	bool ended;
	uint64_t chunk_at; /* where the current chunk starts */
	uint64_t chunks;   /* read so far, the current one included */
	uint64_t events;   /* handed out so far */
	size_t batch;      /* of which in the latest batch */
	ZSTD_DCtx *zstd;
	struct bin_expected *expected;
	bool packs; /* chunks may be packed */
	bool trailed; /* there may be trails */
	struct trails trails;
	struct span *span;        /* those that are still to come, from `next_span` on */
	uint32_t spans, next_span;
	bool spans_wanted;        /* their bytes are still to come */
	struct trail_span now;    /* the one that is being read */
	unsigned char *trail;     /* bytes of them all */
	size_t trail_capacity, trail_at;
	uint64_t trail_events;    /* of all that were handed out */
	unsigned char *raw; /* the current chunk's payload */
	size_t raw_capacity;
	bool renumbered;
	struct numbering names[TABLE_CLASSES], stacks;
	struct bin_events decoder; /* and what the file has defined so far */
};

/* The file is damaged in the current chunk. */
static bool damaged(struct trace *t, const char *what)
{
	const struct bin_reader *r = t->state;

	fault_set(&t->fault, STATUS_TRACE, "%s: byte %" PRIu64 ": %s", t->input.name, r->chunk_at, what);
	return false;
}

/* The file ends before its end chunk. That is no fault: the events up to here are good. */
static bool cut(struct trace *t)
{
	struct bin_reader *r = t->state;

	if (fault_is_set(&t->fault))
		return false;
	r->ended = t->incomplete = true;
	snprintf(t->incomplete_at, sizeof t->incomplete_at, "byte %" PRIu64,
		input_offset(&t->input) + (uint64_t)(t->input.end - t->input.at));
	return false;
}

/* A file that was sent as text may have lost its first bit or a byte of its line ends and is still ours. */
static bool bin_fits(const char *start, size_t n)
{
	size_t have = n < 4 ? n : 4;

	if (have == 0)
		return false;
	if ((unsigned char)start[0] == bin_magic[0])
		return memcmp(start, bin_magic, have) == 0;
	return n > 4 && start[0] == (bin_magic[0] & 0x7f) && memcmp(start + 1, bin_magic + 1, 3) == 0;
}

static bool header_check(struct trace *t, const unsigned char *p)
{
	uint32_t unknown = load32(p + 12) & ~(uint32_t)BIN_FEATURES;

	if (memcmp(p, bin_magic, BIN_MAGIC) != 0)
		return damaged(t, "the first bytes are damaged: was the file copied as text?");
	if (load64(p + 16) != hash_bytes(p, 16))
		return damaged(t, "the header's checksum is wrong");
	if (load16(p + 8) != BIN_VERSION) {
		fault_set(&t->fault, STATUS_TRACE, "%s: version %u of the binary form; this fission reads "
			"version %d", t->input.name, load16(p + 8), BIN_VERSION);
		return false;
	}
	if (unknown) {
		fault_set(&t->fault, STATUS_TRACE, "%s: needs feature %d of the binary form, which this fission "
			"does not know; a newer one can convert it to text", t->input.name, __builtin_ctz(unknown));
		return false;
	}
	return true;
}

static bool bin_open(struct trace *t)
{
	struct bin_reader *r = calloc(1, sizeof *r);

	t->state = r;
	if (r) {
		r->decoder.template = malloc(BIN_TEMPLATES_MOST * sizeof *r->decoder.template);
		r->decoder.address = malloc(BIN_TEMPLATES_MOST * sizeof *r->decoder.address);
		r->decoder.loop = malloc(BIN_EVENTS_MOST * sizeof *r->decoder.loop);
		r->decoder.items = malloc(BIN_EVENTS_MOST * sizeof *r->decoder.items);
		r->decoder.differences = malloc(BIN_WAYS_MOST + sizeof(uint64_t));
		r->zstd = ZSTD_createDCtx();
		r->expected = malloc(sizeof *r->expected);
	}
	if (!r || !r->decoder.template || !r->decoder.address || !r->decoder.loop || !r->decoder.items ||
		!r->decoder.differences || !r->zstd || !r->expected) {
		fault_set(&t->fault, STATUS_UNFIT, "%s: out of memory", t->input.name);
		return false;
	}
	if (!input_need(&t->input, BIN_HEADER, &t->fault))
		return damaged(t, "the file is cut inside its header");
	if (!header_check(t, (const unsigned char *)t->input.at))
		return false;
	r->packs = load32((const unsigned char *)t->input.at + 12) & BIN_FEATURE_PACKED;
	r->trailed = load32((const unsigned char *)t->input.at + 12) & BIN_FEATURE_TRAILS;
	t->input.at += BIN_HEADER;
	return true;
}

static void bin_close(struct trace *t)
{
	struct bin_reader *r = t->state;

	if (!r)
		return;
	ZSTD_freeDCtx(r->zstd);
	free(r->expected);
	free(r->decoder.template);
	free(r->decoder.address);
	free(r->decoder.loop);
	free(r->decoder.items);
	free(r->decoder.differences);
	free(r->raw);
	free(r->span);
	free(r->trail);
	trails_free(&r->trails);
	free(r);
	t->state = NULL;
}

static bool chunk_head_check(struct trace *t, const struct chunk_head *h)
{
	const struct bin_reader *r = t->state;

	if (h->kind == 0 || h->kind >= CHUNK_KINDS || h->flags & ~CHUNK_FLAGS || h->flags == CHUNK_FLAGS ||
		(h->flags & CHUNK_PACKED && (!r->packs || h->kind != CHUNK_EVENTS)) ||
		((h->kind == CHUNK_SPANS || h->kind == CHUNK_TRAILS) && !r->trailed) ||
		(h->kind == CHUNK_TRAILS && h->flags)) /* as they are: a count is small enough already */
		return damaged(t, "an unknown kind of chunk");
	if (h->number != (uint16_t)r->chunks)
		return damaged(t, "a chunk is missing, doubled or out of order");
	if (h->raw > BIN_RAW_MOST || h->stored > h->raw || (!h->flags && h->stored != h->raw))
		return damaged(t, "a chunk's lengths are out of bounds");
	return true;
}

/* Takes the next chunk's head. False at the end, where the file is cut, and with a fault. */
static bool chunk_head_next(struct trace *t, struct chunk_head *h)
{
	struct bin_reader *r = t->state;
	const unsigned char *p;

	r->chunk_at = input_offset(&t->input);
	if (!input_need(&t->input, BIN_CHUNK_HEAD, &t->fault))
		return cut(t);
	p = (const unsigned char *)t->input.at;
	if (load64(p + 24) != hash_bytes(p, 24))
		return damaged(t, "the checksum of a chunk's head is wrong");
	*h = (struct chunk_head){.kind = p[0], .flags = p[1], .number = load16(p + 2),
		.entries = load32(p + 4), .raw = load32(p + 8), .stored = load32(p + 12),
		.checksum = load64(p + 16)};
	if (!chunk_head_check(t, h))
		return false;
	t->input.at += BIN_CHUNK_HEAD;
	r->chunks++;
	return true;
}

/* Room for a payload of n bytes. */
static bool raw_reserve(struct trace *t, size_t n)
{
	struct bin_reader *r = t->state;

	if (n + BIN_SLACK <= r->raw_capacity)
		return true;
	free(r->raw);
	r->raw_capacity = n + n / 2 + BIN_SLACK;
	r->raw = malloc(r->raw_capacity);
	if (!r->raw) {
		r->raw_capacity = 0;
		fault_set(&t->fault, STATUS_UNFIT, "%s: out of memory", t->input.name);
	}
	return r->raw;
}

/* From what is stored to r->raw, where there is room for it. */
static bool expand(struct bin_reader *r, const struct chunk_head *h, const char *stored)
{
	if (h->flags & CHUNK_ZSTD)
		return ZSTD_decompressDCtx(r->zstd, r->raw, h->raw, stored, h->stored) == h->raw;
	if (h->flags & CHUNK_PACKED)
		return h->entries <= BIN_EVENTS_MOST && bin_unpack(r->expected, &(struct bin_packed){.raw = r->raw,
			.stored = (unsigned char *)stored, .raw_bytes = h->raw, .stored_bytes = h->stored, .events = h->entries});
	memcpy(r->raw, stored, h->raw);
	return true;
}

/* Makes the payload of the chunk available in r->raw. */
static bool payload_next(struct trace *t, const struct chunk_head *h)
{
	struct bin_reader *r = t->state;
	const char *stored;

	if (!input_need(&t->input, h->stored, &t->fault))
		return cut(t);
	stored = t->input.at;
	if (hash_bytes(stored, h->stored) != h->checksum)
		return damaged(t, "the checksum of a chunk is wrong");
	if (!raw_reserve(t, h->raw))
		return false;
	if (!expand(r, h, stored))
		return damaged(t, "a chunk does not decompress to its length");
	memset(r->raw + h->raw, 0, BIN_SLACK);
	t->input.at += h->stored;
	return true;
}

/* Notes that the next number of the file is this id. */
static void number_next(struct trace *t, struct numbering *n, uint32_t *count, uint32_t id)
{
	struct bin_reader *r = t->state;

	n->id = arena_reserve(t->tables->arena, n->id, &n->capacity, ++*count, sizeof *n->id);
	n->id[*count] = id;
	r->renumbered |= id != *count;
}

static const char *string_next(struct trace *t, struct bytes *b)
{
	struct bin_reader *r = t->state;
	uint8_t class = bytes_byte(b);
	size_t n = bytes_varint(b, BIN_RAW_MOST);
	const char *text = (const char *)bytes_take(b, n);

	if (!text)
		return "a name is cut short";
	if (class == TABLE_NONE || class >= TABLE_CLASSES || n == 0 || !bin_text_fits(text, n))
		return "a name that is empty, has control characters or is for an unknown table";
	number_next(t, &r->names[class], &r->decoder.known.names[class],
		intern_add(&t->tables->names[class], text, n));
	return NULL;
}

static const char *stack_next(struct trace *t, struct bytes *b)
{
	struct bin_reader *r = t->state;
	struct bin_known *known = &r->decoder.known;
	struct frame f;

	f.parent = (stack_id)bytes_varint(b, known->stacks);
	f.code = (code_id)bytes_varint(b, known->names[TABLE_CODE]);
	f.site = (site_id)bytes_varint(b, known->names[TABLE_SITE]);
	if (b->bad)
		return "a stack that is cut short or refers to nothing";
	f.parent = f.parent ? r->stacks.id[f.parent] : 0;
	f.code = f.code ? r->names[TABLE_CODE].id[f.code] : 0;
	f.site = f.site ? r->names[TABLE_SITE].id[f.site] : 0;
	number_next(t, &r->stacks, &known->stacks, tables_stack(t->tables, f));
	return NULL;
}

static struct text text_next(struct bytes *b)
{
	size_t n = bytes_varint(b, BIN_RAW_MOST);
	const char *text = (const char *)bytes_take(b, n);

	return text ? (struct text){text, n} : (struct text){"", 0};
}

static const char *module_next(struct trace *t, struct bytes *b)
{
	struct module m = {.path = text_next(b)};

	m.build_id = text_next(b);
	m.base = bytes_varint(b, UINT64_MAX);
	m.size = bytes_varint(b, UINT64_MAX);
	if (b->bad)
		return "a module is cut short";
	if (!bin_text_fits(m.path.at, m.path.length) || !bin_text_fits(m.build_id.at, m.build_id.length))
		return "a module's path or build-id has control characters";
	tables_module(t->tables, m);
	return NULL;
}

static const char *address_next(struct trace *t, struct bytes *b)
{
	struct bin_events *d = &((struct bin_reader *)t->state)->decoder;
	uint64_t before = d->addresses ? d->address[d->addresses - 1] : 0;

	if (d->addresses == BIN_TEMPLATES_MOST)
		return "more addresses than an events chunk can have templates";
	d->address[d->addresses++] = before + unzigzag(bytes_varint(b, UINT64_MAX));
	return b->bad ? "an address is cut short" : NULL;
}

static const char *loop_next(struct trace *t, struct bytes *b)
{
	return bin_loop_read(&((struct bin_reader *)t->state)->decoder, b);
}

static const char *way_next(struct trace *t, struct bytes *b)
{
	return bin_way_read(&((struct bin_reader *)t->state)->decoder, b);
}

/* Those of the chunk before are all behind us, or it is damaged. */
static const char *span_next(struct trace *t, struct bytes *b)
{
	struct bin_reader *r = t->state;
	struct span s = {.before = (uint32_t)bytes_varint(b, BIN_LOOPS_MOST + BIN_EVENTS_MOST)};
	uint64_t bytes;

	s.thread = (thread_id)bytes_varint(b, r->decoder.known.names[TABLE_THREAD]);
	bytes = bytes_varint(b, 2 * (uint64_t)BIN_RAW_MOST + 1);
	s.bytes = (uint32_t)(bytes >> 1);
	s.silent = bytes & 1;
	if (b->bad || !s.thread)
		return "a span that is cut short, or of no thread";
	if (r->spans == BIN_SPANS_MOST)
		return "too many spans";
	r->span[r->spans++] = s;
	return NULL;
}

typedef const char *entry_reader(struct trace *t, struct bytes *b);

static entry_reader *const entry_next[CHUNK_KINDS] = {
	[CHUNK_STRINGS] = string_next,
	[CHUNK_STACKS] = stack_next,
	[CHUNK_MODULES] = module_next,
	[CHUNK_ADDRESSES] = address_next,
	[CHUNK_LOOPS] = loop_next,
	[CHUNK_WAYS] = way_next,
	[CHUNK_SPANS] = span_next,
};

static bool entries_read(struct trace *t, const struct chunk_head *h)
{
	struct bin_reader *r = t->state;
	struct bytes b = {r->raw, r->raw + h->raw, false};
	const char *wrong = NULL;

	for (uint32_t i = 0; i < h->entries && !wrong; i++)
		wrong = entry_next[h->kind](t, &b);
	if (!wrong && bytes_left(&b))
		wrong = "bytes are left over behind the entries of a chunk";
	return !wrong || damaged(t, wrong);
}

/* Trails. */

static bool spans_read(struct trace *t, const struct chunk_head *h)
{
	struct bin_reader *r = t->state;

	if (r->next_span < r->spans)
		return damaged(t, "spans follow spans that are behind events");
	if (!r->span)
		r->span = malloc(BIN_SPANS_MOST * sizeof *r->span);
	if (!r->span) {
		fault_set(&t->fault, STATUS_UNFIT, "%s: out of memory", t->input.name);
		return false;
	}
	r->spans = r->next_span = 0;
	r->spans_wanted = true;
	return entries_read(t, h);
}

/* The payload is kept, and the room that was there is the next one's. */
static bool trails_read(struct trace *t, const struct chunk_head *h)
{
	struct bin_reader *r = t->state;
	unsigned char *room = r->trail;
	size_t capacity = r->trail_capacity;
	uint64_t bytes = 0;

	for (uint32_t i = r->next_span; i < r->spans; i++)
		bytes += r->span[i].bytes;
	if (!r->spans_wanted || h->entries || bytes != h->raw)
		return damaged(t, "the bytes of trails are not those that their spans say");
	r->trail = r->raw;
	r->trail_capacity = r->raw_capacity;
	r->raw = room;
	r->raw_capacity = capacity;
	r->trail_at = 0;
	r->spans_wanted = false;
	return true;
}

/* Whether a span is being read, or the next one has its turn. */
static bool span_begin(struct bin_reader *r)
{
	const struct span *s;

	if (trail_any(&r->trails, &r->now))
		return true;
	if (r->spans_wanted || r->next_span == r->spans || r->span[r->next_span].before)
		return false;
	s = &r->span[r->next_span];
	r->now = (struct trail_span){.bytes = {r->trail + r->trail_at, r->trail + r->trail_at + s->bytes, false},
		.thread = s->thread, .silent = s->silent, .sites = r->decoder.known.names[TABLE_SITE],
		.codes = r->decoder.known.names[TABLE_CODE]};
	r->trail_at += s->bytes;
	r->next_span++;
	return true;
}

/* How many events may come before the next span. */
static size_t events_before(const struct bin_reader *r, size_t most)
{
	uint32_t before = r->next_span < r->spans ? r->span[r->next_span].before : UINT32_MAX;

	return most < before ? most : before;
}

/* The trace is whole if the end says so, and if it is the end. */
static bool end_read(struct trace *t, const struct chunk_head *h)
{
	struct bin_reader *r = t->state;

	if (h->raw != 8 || h->entries != 0)
		return damaged(t, "the end of the trace has a wrong length");
	if (r->next_span < r->spans)
		return damaged(t, "spans are behind events that do not come");
	if (load64(r->raw) != r->events - r->trail_events)
		return damaged(t, "the trace does not have as many events as its end says");
	if (input_need(&t->input, 1, &t->fault))
		return damaged(t, "bytes follow behind the end of the trace");
	r->ended = true;
	return !fault_is_set(&t->fault);
}

/* Reads one chunk of any kind. False at the end and with a fault. */
static bool chunk_next(struct trace *t)
{
	struct bin_reader *r = t->state;
	struct chunk_head h = {0};

	if (!chunk_head_next(t, &h) || !payload_next(t, &h))
		return false;
	if (h.kind == CHUNK_END)
		return end_read(t, &h);
	if (h.kind == CHUNK_SPANS)
		return spans_read(t, &h);
	if (h.kind == CHUNK_TRAILS)
		return trails_read(t, &h);
	if (h.kind != CHUNK_EVENTS)
		return entries_read(t, &h);
	if (r->spans_wanted)
		return damaged(t, "the trails of spans are missing");
	return bin_events_open(&r->decoder, r->raw, h.raw, h.entries) || damaged(t, r->decoder.wrong);
}

/* From the file's numbers to the tables' ids. The decoder has checked that the numbers are there. */
static void translate(const struct bin_reader *r, struct event *e)
{
	const uint32_t *objects = r->names[event_info[e->kind].table].id;

	e->thread = r->names[TABLE_THREAD].id[e->thread];
	if (e->object && !(e->flags & EVENT_ADDRESSED))
		e->object = objects[e->object];
	if (e->kind == EVENT_WAIT)
		e->mutex = objects[e->mutex];
	if (e->site)
		e->site = r->names[TABLE_SITE].id[e->site];
	if (e->stack)
		e->stack = r->stacks.id[e->stack];
}

/* From the span that is being read. */
static size_t span_events(struct trace *t, struct event *events, size_t most)
{
	struct bin_reader *r = t->state;
	size_t n = trail_next(&r->trails, &r->now, events, most);

	if (r->now.no_memory)
		fault_set(&t->fault, STATUS_UNFIT, "%s: out of memory", t->input.name);
	else if (r->now.wrong)
		damaged(t, r->now.wrong);
	r->trail_events += n;
	return n;
}

/* From the events chunk. */
static size_t chunk_events(struct trace *t, struct event *events, size_t most)
{
	struct bin_reader *r = t->state;
	size_t n = bin_events_next(&r->decoder, events, events_before(r, most));

	if (r->decoder.wrong)
		damaged(t, r->decoder.wrong);
	if (r->next_span < r->spans)
		r->span[r->next_span].before -= (uint32_t)n;
	return n;
}

/* A batch does not reach over the end of a chunk or span, so that its place is that of one chunk. */
static size_t bin_next(struct trace *t, struct event *events, size_t most)
{
	struct bin_reader *r = t->state;

	for (r->batch = 0; !r->batch && !fault_is_set(&t->fault);) {
		if (span_begin(r))
			r->batch = span_events(t, events, most);
		else if (bin_events_any(&r->decoder))
			r->batch = chunk_events(t, events, most);
		else if (r->ended || !chunk_next(t))
			return 0;
	}
	if (r->renumbered)
		for (size_t i = 0; i < r->batch; i++)
			translate(r, &events[i]);
	r->events += r->batch;
	return r->batch;
}

static void bin_place(struct trace *t, size_t index, enum trace_field field, char *to, size_t n)
{
	const struct bin_reader *r = t->state;

	(void)field;
	snprintf(to, n, "%s:event %" PRIu64 " (chunk at byte %" PRIu64 ")", t->input.name,
		r->events - r->batch + index + 1, r->chunk_at);
}

const struct trace_format trace_bin = {
	.name = "binary",
	.fits = bin_fits,
	.open = bin_open,
	.next = bin_next,
	.place = bin_place,
	.close = bin_close,
	.start = trace_bin_start,
	.put = trace_bin_put,
	.put_briefs = trace_bin_put_briefs,
	.put_loop = trace_bin_put_loop,
	.finish = trace_bin_finish,
	.drop = trace_bin_drop,
};
