/* SPDX-License-Identifier: MIT */
#include "blocks_past.h"

#include "base/arena.h"
#include "base/hash.h"
#include "blocks_spans.h"

enum { SLOTS_FIRST = 32, LINE_OTHERS = 63 };

struct initial_read {
	struct end end;
	uint64_t wrote; /* seq of the line's last write before it; 0 for none */
};

/* What the line has done to a variable since its outermost open block began. */
struct past {
	uint64_t x;
	struct end write, read;
	uint64_t transaction; /* begin of the one that the write is final in, unless another follows */
	struct initial_read *initial; /* oldest first; each the first in one of the open blocks */
	size_t count, capacity;
};

/* Where a line's past of a variable is. */
struct slot {
	uint64_t x;
	uint32_t past;       /* number */
	uint32_t generation; /* of the line; others are free */
};

struct line {
	uint32_t generation; /* goes up when no block is open any more */
	size_t open;         /* blocks */
	struct seg past;     /* struct past by number; used again by the next block */
	uint32_t pasts;
	struct slot *slot; /* a table, at most half full */
	uint32_t mask;
	guard_id held;    /* by the line, if `sure` */
	bool sure;
	guard_id *prefix; /* prefix[i]: of the i + 1 oldest locks held; the first `valid` of them are right */
	size_t valid, capacity;
};

struct pasts {
	struct seg line; /* struct line */
};

struct pasts *pasts_new(struct arena *a)
{
	struct pasts *p = arena_alloc(a, sizeof *p);

	seg_init(&p->line, a, sizeof(struct line));
	return p;
}

static struct line *line_of(struct blocks *b, uint32_t line)
{
	struct line *l = seg_at(&b->pasts->line, line, sizeof *l);

	if (__builtin_expect(!l->generation, 0)) {
		l->generation = 1;
		seg_init(&l->past, b->arena, sizeof(struct past));
		l->slot = arena_alloc(b->arena, SLOTS_FIRST * sizeof *l->slot);
		l->mask = SLOTS_FIRST - 1;
	}
	return l;
}

/* What is held. */

/* The guard of all locks of the line. */
static inline guard_id held_now(struct blocks *b, struct line *l, const struct held *h)
{
	if (!l->sure)
		l->held = guard_of(&b->guards, (struct guard){h->all, h->exclusive});
	l->sure = true;
	return l->held;
}

/* The guard of the n oldest locks of the line. */
static guard_id prefix_of(struct blocks *b, struct line *l, const struct held *h, size_t n)
{
	if (n == h->count)
		return held_now(b, l, h);
	if (!n)
		return 0;
	for (; l->valid < n; l->valid++) {
		const struct held_lock *m = &h->at[l->valid];

		l->prefix = arena_reserve(b->arena, l->prefix, &l->capacity, l->valid, sizeof *l->prefix);
		l->prefix[l->valid] =
			guard_add(&b->guards, l->valid ? l->prefix[l->valid - 1] : 0, m->lock, m->shared);
	}
	return l->prefix[n - 1];
}

/* What the line has held all the way since its event `seq`: locks stand in the order in which they were taken. */
static guard_id held_since(struct blocks *b, struct line *l, uint32_t line, uint64_t seq)
{
	const struct held *h = run_held(b->run, line);
	size_t n = h->count;

	while (n && mark_seq(&h->at[n - 1].acquire) > seq)
		n--;
	return prefix_of(b, l, h, n);
}

void past_release(struct blocks *b, const struct event *e)
{
	struct line *l = line_of(b, e->line);
	const struct held *h = run_held(b->run, e->line);
	const struct held_lock *m = held_find(h, (sync_id)e->object);

	if (m && (size_t)(m - h->at) < l->valid)
		l->valid = (size_t)(m - h->at);
	l->sure = false;
}

void past_acquire(struct blocks *b, const struct event *e)
{
	line_of(b, e->line)->sure = false;
}

/* Pasts. */

/* The slot of the variable, or the free one where it would be. */
static struct slot *slot_of(const struct line *l, uint64_t x)
{
	uint64_t i = hash_word(x) & l->mask;

	while (l->slot[i].generation == l->generation && l->slot[i].x != x)
		i = (i + 1) & l->mask;
	return &l->slot[i];
}

static void slots_grow(struct blocks *b, struct line *l)
{
	size_t old = l->mask + 1;

	arena_recycle(b->arena, l->slot, old * sizeof *l->slot);
	l->slot = arena_alloc(b->arena, 2 * old * sizeof *l->slot);
	l->mask = (uint32_t)(2 * old - 1);
	for (uint32_t i = 0; i < l->pasts; i++) {
		uint64_t x = ((struct past *)seg_at(&l->past, i, sizeof(struct past)))->x;

		*slot_of(l, x) = (struct slot){x, i, l->generation};
	}
}

static uint64_t line_bit(uint32_t line)
{
	return (uint64_t)1 << (line < LINE_OTHERS ? line : LINE_OTHERS);
}

static struct past *past_new(struct blocks *b, struct line *l, uint32_t line, uint64_t x)
{
	struct past *p = seg_at(&l->past, l->pasts, sizeof *p);

	if (2 * (l->pasts + 1) > l->mask)
		slots_grow(b, l);
	*slot_of(l, x) = (struct slot){x, l->pasts++, l->generation};
	*spans_lines(b, x) |= line_bit(line);
	p->x = x;
	p->write.at.at = p->read.at.at = p->count = 0;
	return p;
}

/* What the line has done to the variable in its open blocks, or NULL. */
static struct past *past_find(struct line *l, uint64_t x)
{
	const struct slot *s = slot_of(l, x);

	return s->generation == l->generation ? seg_at(&l->past, s->past, sizeof(struct past)) : NULL;
}

/* Rules. */

/* An access with all that it takes to make spans that end there. */
struct now {
	struct blocks *b;
	struct line *l;
	const struct event *e;
	const struct activations *open;
	struct end end;
};

static void span_to(const struct now *now, const struct end *from, enum span_ops ops, const struct activation *a)
{
	struct stretch s = {
		.first = from,
		.second = &now->end,
		.ops = ops,
		.held = held_since(now->b, now->l, now->e->line, mark_seq(&from->at)),
		.block = block_of(a, now->e->thread),
	};

	spans_stretch(now->b, now->e->object, &s);
}

/* The innermost block that holds the earlier access and this one. */
static const struct activation *holding(const struct now *now, const struct end *from)
{
	return from->at.at ? activations_holding(now->open, mark_seq(&from->at)) : NULL;
}

/* Whether a line's event `seq`, 0 for none, is in the block. */
static bool holds(const struct now *now, const struct activation *a, uint64_t seq)
{
	return seq && seq >= activation_since(now->open, a);
}

/* The transaction that an access is in: the outermost declared one, otherwise the innermost block. */
static const struct activation *transaction_of(const struct activations *open, uint64_t seq)
{
	for (size_t i = 0; i < open->depth && open->exact; i++)
		if (open->at[i].exact && seq >= activation_since(open, &open->at[i]))
			return &open->at[i];
	return activations_holding(open, seq);
}

/*
 * Initial reads that no open block tells apart: the later one says nothing that the earlier does not. So at most one
 * more is kept than blocks are open.
 */
static void initial_compact(const struct now *now, struct past *p)
{
	while (p->count) {
		const struct activation *a = holding(now, &p->initial[p->count - 1].end);

		if (a && !(p->count > 1 && holds(now, a, mark_seq(&p->initial[p->count - 2].end.at))))
			return;
		p->count--;
	}
}

/* A read that comes first in its innermost block is an initial one. */
static void note_initial(const struct now *now, struct past *p)
{
	const struct activation *a = activations_holding(now->open, now->e->seq);

	if (!a || holds(now, a, mark_seq(&p->write.at)))
		return;
	if (p->count && holds(now, a, mark_seq(&p->initial[p->count - 1].end.at)))
		return;
	initial_compact(now, p);
	p->initial = arena_reserve(now->b->arena, p->initial, &p->capacity, p->count, sizeof *p->initial);
	p->initial[p->count++] = (struct initial_read){now->end, mark_seq(&p->write.at)};
}

/* Rule a, for a read. A read before it counts only in a block in which no write comes before. */
static void read_spans(const struct now *now, const struct past *p)
{
	const struct activation *a = holding(now, &p->write);

	if (a)
		span_to(now, &p->write, SPAN_WR, a);
	a = holding(now, &p->read);
	if (a && !holds(now, a, mark_seq(&p->write.at)))
		span_to(now, &p->read, SPAN_RR, a);
}

/* Rules a and b, for a write. The last read in rule a is behind an initial one, or has a write before it. */
static void write_spans(const struct now *now, const struct past *p)
{
	const struct activation *a = holding(now, &p->write);

	if (a)
		span_to(now, &p->write, SPAN_WW, a);
	for (size_t i = 0; i < p->count; i++) {
		const struct initial_read *r = &p->initial[i];

		a = holding(now, &r->end);
		if (a && !holds(now, a, r->wrote) && mark_seq(&r->end.at) != now->e->seq)
			span_to(now, &r->end, SPAN_RW, a);
	}
}

/* The last write is final, unless its transaction is still open and has one more. */
static void write_is_over(struct blocks *b, const struct past *p, const struct activations *open)
{
	const struct activation *a = open ? transaction_of(open, mark_seq(&p->write.at)) : NULL;

	if (p->write.at.at)
		spans_point(b, p->x, a && a->begin == p->transaction ? POINT_WRITE : POINT_FINAL, &p->write);
}

static void access_in_block(const struct now *now)
{
	struct past *p = past_find(now->l, now->e->object);
	const struct activation *a = transaction_of(now->open, now->e->seq);

	if (!p)
		p = past_new(now->b, now->l, now->e->line, now->e->object);
	if (blocks_reads(now->e->kind)) {
		if (!a || !holds(now, a, mark_seq(&p->write.at)))
			spans_point(now->b, p->x, POINT_READ, &now->end);
		read_spans(now, p);
		note_initial(now, p);
		p->read = now->end;
	}
	if (!event_is_read(now->e->kind)) {
		write_spans(now, p);
		write_is_over(now->b, p, now->open);
		p->write = now->end;
		p->transaction = a ? a->begin : 0;
	}
}

guard_id past_access(struct blocks *b, const struct event *e)
{
	struct now now = {.b = b, .l = line_of(b, e->line), .e = e, .open = run_open(b->run, e->line)};

	now.end = (struct end){mark_of(e), held_now(b, now.l, run_held(b->run, e->line)), blocks_period(b, e)};
	if (now.l->open) {
		access_in_block(&now);
		return now.end.held;
	}
	if (blocks_reads(e->kind))
		spans_point(b, e->object, POINT_READ, &now.end);
	if (!event_is_read(e->kind))
		spans_point(b, e->object, POINT_FINAL, &now.end);
	return now.end.held;
}

bool past_is_open(struct blocks *b, uint32_t line)
{
	return line_of(b, line)->open;
}

/* No block is open any more: all last writes were final. */
static void line_over(struct blocks *b, uint32_t line)
{
	struct line *l = line_of(b, line);

	for (uint32_t i = 0; i < l->pasts; i++) {
		const struct past *p = seg_at(&l->past, i, sizeof *p);

		write_is_over(b, p, NULL);
		if (line < LINE_OTHERS)
			*spans_lines(b, p->x) &= ~line_bit(line);
	}
	l->pasts = 0;
	l->generation++;
}

void past_open(struct blocks *b, const struct event *e)
{
	line_of(b, e->line)->open++;
}

void past_close(struct blocks *b, const struct event *e)
{
	if (--line_of(b, e->line)->open == 0)
		line_over(b, e->line);
}

void pasts_finish(struct blocks *b)
{
	for (uint32_t line = 1; line <= b->run->lines; line++)
		line_over(b, line);
}

/* Variables that begin, end and divide. */

/* The next line from this one on that may have a past of the variable; 0 if there is none. */
static uint32_t next_line(struct blocks *b, uint64_t x, uint32_t line)
{
	uint64_t lines = *spans_lines(b, x);

	if (!lines)
		return 0;
	for (; line <= b->run->lines; line++)
		if (lines & line_bit(line))
			return line;
	return 0;
}

void pasts_forget(struct blocks *b, uint64_t x)
{
	for (uint32_t line = next_line(b, x, 1); line; line = next_line(b, x, line + 1)) {
		struct past *p = past_find(line_of(b, line), x);

		if (!p)
			continue;
		write_is_over(b, p, NULL);
		p->write.at.at = p->read.at.at = p->count = 0;
	}
}

static void past_copy(struct blocks *b, uint32_t line, const struct past *from, uint64_t y)
{
	struct past *to = past_new(b, line_of(b, line), line, y);

	to->write = from->write;
	to->read = from->read;
	to->transaction = from->transaction;
	for (; to->count < from->count; to->count++) {
		to->initial = arena_reserve(b->arena, to->initial, &to->capacity, to->count, sizeof *to->initial);
		to->initial[to->count] = from->initial[to->count];
	}
}

void pasts_copy(struct blocks *b, uint64_t x, uint64_t y)
{
	for (uint32_t line = next_line(b, x, 1); line; line = next_line(b, x, line + 1)) {
		const struct past *p = past_find(line_of(b, line), x);

		if (p)
			past_copy(b, line, p, y);
	}
}
