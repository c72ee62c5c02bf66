/* SPDX-License-Identifier: MIT */
#include "record.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "event/varint.h"

enum { NUMBER_MOST = 5, /* bytes of 32 bits */ ROOM = 1 << 20 };

/* What is the same in all records like it: how many operations, and whether it was cut off; op and object of each. */
struct kept {
	const unsigned char *bytes;
	uint32_t length; /* of that; the rest comes behind it */
	uint32_t times;
};

void records_init(struct records *s, struct arena *a)
{
	*s = (struct records){.arena = a};
	seg_init(&s->op, a, sizeof(struct op));
	seg_init(&s->record, a, sizeof(struct kept));
	map_init(&s->by_op, a);
	map_init(&s->by_content, a);
	s->known = arena_alloc(a, RECORD_OPS * sizeof *s->known);
}

/* Ops. */

static inline bool same_op(const struct op *a, const struct op *b)
{
	return a->site == b->site && a->stack == b->stack && a->kind == b->kind && a->flags == b->flags;
}

static uint32_t op_add(struct records *s, const struct op *op, uint64_t key)
{
	uint32_t *number;

	while (*(number = map_put(&s->by_op, key)) && !same_op(op_at(s, *number), op))
		key = hash_word(key + 1);
	if (!*number) {
		*number = ++s->ops;
		*(struct op *)seg_at(&s->op, *number, sizeof *op) = *op;
	}
	return *number;
}

static inline uint32_t op_number(struct records *s, const struct op *op)
{
	uint64_t key = hash_pair((uint64_t)op->stack << 32 | op->site, (uint64_t)op->flags << 16 | op->kind);
	uint32_t *known = &s->known[key % RECORD_OPS];

	if (!*known || !same_op(op_at(s, *known), op))
		*known = op_add(s, op, key);
	return *known;
}

/* Recording. */

void recording_begin(struct records *s, struct recording *r, const struct event *e)
{
	if (!r->recent)
		r->recent = arena_alloc(s->arena, RECORD_RECENT * sizeof *r->recent);
	r->count = r->period = r->matched = 0;
	r->begin = e->seq;
	r->thread = e->thread;
	r->first_span = ++r->span;
}

/* The entry of an operation; new if another operation had its slot, and where another record or span had it. */
static inline struct recent *recent_of(struct recording *r, uint32_t op, uint32_t object)
{
	uint64_t what = (uint64_t)op << 32 | object;
	struct recent *n = &r->recent[hash_word(what) % RECORD_RECENT];

	if (n->what != what || n->span < r->first_span) {
		*n = (struct recent){.what = what, .span = r->span, .position = UINT32_MAX};
	} else if (n->span != r->span) {
		n->span = r->span;
		n->times = 0;
	}
	return n;
}

static inline bool same_item(const struct item *a, const struct item *b)
{
	return a->op == b->op && a->object == b->object;
}

/* Whether the last items close what they open, and nothing else. */
static bool is_round(struct records *s, const struct recording *r, size_t length)
{
	size_t depth = 0;

	for (size_t i = r->count - length; i < r->count; i++) {
		uint16_t kind = op_at(s, r->item[i].op)->kind;

		if (kind == RECORD_OPEN)
			depth++;
		if (kind == RECORD_CLOSE && (r->item[i].object || depth-- == 0))
			return false;
	}
	return depth == 0;
}

/*
 * Keeps track of the distance at which the items repeat. Where it does not fit, the next try is the distance to the
 * last item like this one: within a loop it grows until it is the length of a round. A third round is taken back.
 */
static inline void notice_loop(struct records *s, struct recording *r, uint32_t before)
{
	size_t now = r->count - 1;
	const struct item *item = &r->item[now];

	if (r->period && same_item(item - r->period, item)) {
		r->matched++;
	} else {
		r->period = before < now && now - before <= RECORD_PERIOD && same_item(&r->item[before], item) ? now - before : 0;
		r->matched = 1;
	}
	if (r->period && r->matched >= 2 * r->period && is_round(s, r, r->period)) {
		r->count -= r->period;
		r->matched -= r->period;
	}
}

bool recording_add(struct records *s, struct recording *r, struct op op, uint32_t object, uint64_t seq)
{
	bool access = op.kind < EVENT_KINDS && event_is_access((uint8_t)op.kind);
	uint32_t number = op_number(s, &op), before;
	struct recent *n;

	if (!access)
		r->span++;
	n = recent_of(r, number, object);
	if (access && n->times == 2)
		return true;
	if (r->count == RECORD_MOST || seq - r->begin > UINT32_MAX)
		return false;
	n->times++;
	before = n->position;
	n->position = (uint32_t)r->count;
	r->item = arena_reserve(s->arena, r->item, &r->capacity, r->count, sizeof *r->item);
	r->item[r->count++] = (struct item){number, object, (uint32_t)(seq - r->begin)};
	notice_loop(s, r, before);
	return true;
}

/* Keeping. */

static void scratch_reserve(struct records *s, size_t bytes)
{
	if (bytes <= s->scratch_size)
		return;
	arena_recycle(s->arena, s->scratch, s->scratch_size);
	s->scratch = arena_alloc(s->arena, 2 * bytes);
	s->scratch_size = 2 * bytes;
}

static struct kept *kept_at(struct records *s, uint32_t number)
{
	return seg_at(&s->record, number, sizeof(struct kept));
}

/* The operations as bytes, in the scratch; returns how many. */
static size_t write_operations(struct records *s, const struct recording *r, bool cut_off)
{
	unsigned char *p;

	scratch_reserve(s, 3 * NUMBER_MOST * r->count + 3 * VARINT_MOST);
	p = s->scratch;
	p += varint_put(p, 2 * r->count + cut_off);
	for (size_t i = 0; i < r->count; i++) {
		p += varint_put(p, r->item[i].op);
		p += varint_put(p, r->item[i].object);
	}
	return (size_t)(p - s->scratch);
}

/* Thread, first event and distances, behind them. Returns the length of all. */
static size_t write_rest(struct records *s, const struct recording *r, size_t length)
{
	unsigned char *p = s->scratch + length;
	uint32_t last = 0;

	p += varint_put(p, r->thread);
	p += varint_put(p, r->begin);
	for (size_t i = 0; i < r->count; i++) {
		p += varint_put(p, r->item[i].after - last);
		last = r->item[i].after;
	}
	return (size_t)(p - s->scratch);
}

/* A copy of the scratch, cut from a larger piece. */
static const unsigned char *keep(struct records *s, size_t length)
{
	unsigned char *at = s->room;

	if (length > s->room_left) {
		s->room_left = length > ROOM ? length : ROOM;
		at = arena_alloc(s->arena, s->room_left);
	}
	memcpy(at, s->scratch, length);
	s->room = at + length;
	s->room_left -= length;
	return at;
}

static bool same_content(struct records *s, const struct kept *k, size_t length)
{
	return k->length == length && memcmp(k->bytes, s->scratch, length) == 0;
}

void recording_end(struct records *s, struct recording *r, bool cut_off)
{
	size_t length = write_operations(s, r, cut_off);
	uint64_t key = hash_bytes(s->scratch, length);
	uint32_t *number;

	while (*(number = map_put(&s->by_content, key)) && !same_content(s, kept_at(s, *number), length))
		key = hash_word(key + 1);
	if (!*number) {
		*number = ++s->records;
		*kept_at(s, *number) = (struct kept){keep(s, write_rest(s, r, length)), (uint32_t)length, 0};
	}
	if (kept_at(s, *number)->times < UINT32_MAX)
		kept_at(s, *number)->times++;
}

/* Our own bytes, which need no checking. */
static uint64_t number_at(const unsigned char **p)
{
	uint64_t x = 0;
	unsigned shift = 0;

	for (; **p >= 0x80; shift += 7)
		x |= (uint64_t)(*(*p)++ & 0x7f) << shift;
	return x | (uint64_t)*(*p)++ << shift;
}

struct record record_read(struct records *s, uint32_t number)
{
	const unsigned char *p = kept_at(s, number)->bytes;
	struct record r = {.times = kept_at(s, number)->times};
	uint32_t after = 0;

	r.count = number_at(&p);
	r.cut_off = r.count & 1;
	r.count /= 2;
	s->item = arena_reserve(s->arena, s->item, &s->item_capacity, r.count, sizeof *s->item);
	for (size_t i = 0; i < r.count; i++) {
		s->item[i].op = (uint32_t)number_at(&p);
		s->item[i].object = (uint32_t)number_at(&p);
	}
	r.thread = (thread_id)number_at(&p);
	r.begin = number_at(&p);
	for (size_t i = 0; i < r.count; i++)
		s->item[i].after = after += (uint32_t)number_at(&p);
	r.item = s->item;
	return r;
}
