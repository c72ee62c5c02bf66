/* SPDX-License-Identifier: MIT */
/*
 * blocks: which blocks could other threads split in some schedule that keeps locks, forks, joins and barriers?
 *
 * Reported is a block with two accesses between which another thread's access can come, by the locks held and by thread
 * periods, so that no serial order shows the same values: R-W-R, W-W-R, W-R-W, R-W-W on one variable; `2v`, two
 * accesses to two variables against two of another transaction; `cycle`, three and more transactions. It is all by
 * synchronisation: that values or conditions keep the accesses apart is not seen, hence `suspected`. Deadlocks that the
 * program may have are not seen either (check/deadlocks.c is for those).
 *
 * Wang and Stoller, IEEE TSE 2006, section 6, Theorems 3 to 5. Theorem 3 compares pairs of 1v-blocks, but of one block
 * only the two operations with what is held all the way between them, and of the other only a single operation
 * with what is held at it. So these are what is kept: a `span` for rules a and b, a `point` for each access; and the
 * dummy event of a lone access is not needed. Of the initial reads in rule b the first suffices: fewest locks are
 * held all the way from there. Rule b is applied to every write, not only to the final one: what comes between
 * the read and an earlier write comes between the read and the final one. Where blocks nest (every function is one) each
 * is a transaction of its own; a pair is blamed on the innermost that holds both ends, and a write is final if it is
 * the last of its outermost declared block, or else of its innermost function. A read-modify-write is a read and a
 * write, with nothing between.
 *
 * State, for each variable: points (op, held, periods) and spans (op1, op2, held(e1,e2), block, periods), each once, for all
 * threads together. Of two that differ in what is held, the one that holds less stands for both if it was seen in the
 * same periods; of more than HELD_MOST, what they have in common. And for each variable that a line has accessed in the
 * block that is open: the last write, the last read, the first initial reads (`past`).
 *
 * Everything belongs to the run and is touched by its handlers only. All comparing is done at the end, or when the
 * variable begins a new life.
 *
 * Cost: one look-up an access, then a few comparisons if nothing is new. At the end spans times points for each variable
 * that has no common lock. Memory: linear in the distinct spans and points.
 */
#include "blocks.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "blocks_cycles.h"
#include "blocks_pairs.h"
#include "blocks_shapes.h"

/* So many sets of locks are told apart at one place; where there are more, what they have in common counts. */
enum { HELD_MOST = 4, SPANS_NEAR = 5 };

enum point_op { POINT_READ, POINT_WRITE, POINT_FINAL, POINTS };

/* By the operations of both ends. */
enum span_ops { SPAN_RR, SPAN_RW, SPAN_WR, SPAN_WW };

struct point {
	struct point *next;
	struct mark at[2]; /* where it was seen first, and where first in another thread, if it was */
	guard_id held;
	period_set periods;
	enum point_op op;
};

/* One sight of a span. */
struct sight {
	struct mark first, second;
	struct block block;
	period_id period;
};

struct span {
	struct sight sight[2]; /* the first, and the first of another thread, if there is one: its first.at.at is not 0 */
	guard_id held;
	period_set periods; /* of the first end */
	period_id last;     /* of the second end, where it is another one than that of the first; otherwise 0 */
	enum span_ops ops;
	uint32_t next; /* of the variable, in the order in which they were seen; of a spare one, the next spare one */
};

/*
 * Spans that differ in locks and periods alone: what is looked at each time, apart from the rest. Nearly always it says
 * that nothing is new.
 */
struct family {
	struct {
		guard_id held;
		period_set periods;
		uint32_t span; /* number; 0: no more */
	} at[SPANS_NEAR];
	uint32_t more; /* the family goes on there; of a spare one, the next spare one */
};

_Static_assert(sizeof(struct family) == 64, "one cache line");

/* An access of the open block. */
struct end {
	struct mark at; /* at.at is 0: none */
	guard_id held;
	period_id period;
};

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

struct variable {
	_Alignas(64) struct point *points; /* in the order in which they were seen */
	struct {
		guard_id held;
		period_set periods;
	} recent[POINTS]; /* by operation: a point that was seen lately */
	uint32_t life;    /* another one after it was forgotten; 0: not accessed */
	uint32_t spans, last_span; /* numbers */
	uint64_t lines; /* bits of those that may have a past of it; the last bit is for all lines from there on */
};

_Static_assert(sizeof(struct variable) == 64, "one cache line");

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
	guard_id *prefix; /* prefix[i]: of the i + 1 oldest locks held; the first `valid` of them are as they should be */
	size_t valid, capacity;
};

enum { SLOTS_FIRST = 32, LINE_OTHERS = 63 };

static struct line *line_of(struct blocks *b, uint32_t line)
{
	struct line *l = seg_at(&b->line, line, sizeof *l);

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

static void blocks_release(void *self, const struct event *e)
{
	struct blocks *b = self;
	struct line *l = line_of(b, e->line);
	const struct held *h = run_held(b->run, e->line);
	const struct held_lock *m = held_find(h, (sync_id)e->object);

	if (m && (size_t)(m - h->at) < l->valid)
		l->valid = (size_t)(m - h->at);
	l->sure = false;
	if (b->shapes)
		shapes_lock(b, e);
}

static void blocks_acquire(void *self, const struct event *e)
{
	struct blocks *b = self;

	line_of(b, e->line)->sure = false;
	if (b->shapes)
		shapes_lock(b, e);
}

static struct variable *variable_of(struct blocks *b, uint64_t x)
{
	return seg_at(&b->variable, x, sizeof(struct variable));
}

/* Points. */

/* The place for the new one: where it was seen before, or of one that it stands for and that was seen in no other period. */
static struct point **point_place(struct blocks *b, struct variable *v, const struct point *new)
{
	struct point **link = &v->points, *p;

	for (; (p = *link); link = &p->next) {
		if (p->op == new->op && p->held == new->held)
			return link;
		if (p->op == new->op && p->periods == new->periods && guard_within(&b->guards, new->held, p->held)) {
			p->held = new->held;
			p->at[0] = new->at[0];
			return link;
		}
	}
	return link;
}

/* Where too many were seen in this period, the new one counts as holding what all of them hold: returns whether so. */
static bool point_weaken(struct blocks *b, const struct variable *v, struct point *new, period_id period)
{
	guard_id common = new->held;
	size_t count = 0;

	for (const struct point *p = v->points; p; p = p->next)
		if (p->op == new->op && period_set_has(&b->sets, p->periods, period)) {
			common = guard_meet(&b->guards, common, p->held);
			count++;
		}
	if (count >= HELD_MOST)
		new->held = common;
	return count >= HELD_MOST;
}

static const struct point *point_add_new(struct blocks *b, struct variable *v, struct point new, period_id period)
{
	struct point **place = point_place(b, v, &new), *p;
	bool is_weak = !*place && point_weaken(b, v, &new, period);

	if (is_weak)
		place = point_place(b, v, &new);
	p = *place;
	if (!p) {
		p = arena_alloc(b->arena, sizeof *p);
		*p = new;
		place = is_weak ? &v->points : place;
		p->next = *place;
		*place = p;
	}
	p->periods = period_set_add(&b->sets, p->periods, period);
	if (!p->at[1].at && p->at[0].thread != new.at[0].thread)
		p->at[1] = new.at[0];
	return p;
}

static void point_add_slowly(struct blocks *b, struct variable *v, enum point_op op, const struct end *end)
{
	struct point new = {.at = {end->at}, .held = end->held, .op = op};
	const struct point *p = v->points;

	while (p && !(p->op == op && period_set_has(&b->sets, p->periods, end->period) &&
			    guard_within(&b->guards, p->held, end->held)))
		p = p->next;
	if (!p) {
		new.periods = period_set_add(&b->sets, 0, end->period);
		p = point_add_new(b, v, new, end->period);
	}
	v->recent[op].held = p->held;
	v->recent[op].periods = p->periods;
}

static inline void point_add(struct blocks *b, struct variable *v, enum point_op op, const struct end *end)
{
	if (!period_set_has(&b->sets, v->recent[op].periods, end->period) ||
		!guard_within(&b->guards, v->recent[op].held, end->held))
		point_add_slowly(b, v, op, end);
}

/* Spans. */

static struct span *span_at(struct blocks *b, uint32_t number)
{
	return number ? seg_at(&b->span, number, sizeof(struct span)) : NULL;
}

static struct family *family_at(struct blocks *b, uint32_t number)
{
	return number ? seg_at(&b->family, number, sizeof(struct family)) : NULL;
}

/* Where the family is found; that two keys are equal by chance is ruled out. */
static uint64_t family_key(uint32_t life, const struct span *s)
{
	return hash_pair((uint64_t)life << 32 | s->last, blocks_blame(&s->sight[0].block) << 2 | s->ops);
}

static uint32_t family_new(struct blocks *b, uint32_t more)
{
	uint32_t number = b->spare_family ? b->spare_family : ++b->family_count;
	struct family *f = family_at(b, number);

	if (b->spare_family)
		b->spare_family = f->more;
	*f = (struct family){.more = more};
	return number;
}

/* Puts the span in front of the family, whose number it returns. */
static uint32_t family_put(struct blocks *b, uint32_t number, uint32_t span)
{
	struct family *f;

	if (!number || family_at(b, number)->at[SPANS_NEAR - 1].span)
		number = family_new(b, number);
	f = family_at(b, number);
	memmove(&f->at[1], &f->at[0], sizeof f->at - sizeof f->at[0]);
	f->at[0].held = span_at(b, span)->held;
	f->at[0].periods = span_at(b, span)->periods;
	f->at[0].span = span;
	return number;
}

static uint32_t span_new(struct blocks *b, struct variable *v, const struct span *new)
{
	uint32_t number = b->spare_span ? b->spare_span : ++b->span_count;
	struct span *s = span_at(b, number);

	if (b->spare_span)
		b->spare_span = s->next;
	*s = *new;
	s->next = 0;
	if (v->last_span)
		span_at(b, v->last_span)->next = number;
	else
		v->spans = number;
	v->last_span = number;
	return number;
}

/* One more sight of a span that holds what the new one holds, or that the new one stands for. */
static void span_seen(struct blocks *b, struct span *s, const struct span *new)
{
	if (s->held != new->held)
		s->sight[0] = new->sight[0];
	s->held = new->held;
	s->periods = period_set_add(&b->sets, s->periods, new->sight[0].period);
	if (!s->sight[1].first.at && s->sight[0].block.thread != new->sight[0].block.thread)
		s->sight[1] = new->sight[0];
}

/* Finds the span that the new one is another sight of, or that it stands for and that was seen in no other period. */
static bool span_known(struct blocks *b, uint32_t number, const struct span *new)
{
	for (struct family *f = family_at(b, number); f; f = family_at(b, f->more))
		for (size_t i = 0; i < SPANS_NEAR && f->at[i].span; i++) {
			struct span *s;

			if (f->at[i].held != new->held && !(f->at[i].periods == new->periods &&
								  guard_within(&b->guards, new->held, f->at[i].held)))
				continue;
			s = span_at(b, f->at[i].span);
			span_seen(b, s, new);
			f->at[i].held = s->held;
			f->at[i].periods = s->periods;
			return true;
		}
	return false;
}

/* Where too many were seen in this period, the new one counts as holding what all of them hold. */
static void span_weaken(struct blocks *b, uint32_t number, struct span *new)
{
	guard_id common = new->held;
	size_t count = 0;

	for (struct family *f = family_at(b, number); f; f = family_at(b, f->more))
		for (size_t i = 0; i < SPANS_NEAR && f->at[i].span; i++)
			if (period_set_has(&b->sets, f->at[i].periods, new->sight[0].period)) {
				common = guard_meet(&b->guards, common, f->at[i].held);
				count++;
			}
	if (count >= HELD_MOST)
		new->held = common;
}

static void span_add_new(struct blocks *b, struct variable *v, struct span *new)
{
	uint32_t *number = map_put(&b->families, family_key(v->life, new));

	new->periods = period_set_add(&b->sets, 0, new->sight[0].period);
	if (span_known(b, *number, new))
		return;
	span_weaken(b, *number, new);
	if (!span_known(b, *number, new))
		*number = family_put(b, *number, span_new(b, v, new));
}

/* Whether a span of this part of the family stands for the new one. */
static inline bool family_covers(struct blocks *b, struct family *f, const struct span *new)
{
	for (size_t i = 0; i < SPANS_NEAR && f->at[i].span; i++)
		if (period_set_has(&b->sets, f->at[i].periods, new->sight[0].period) &&
			guard_within(&b->guards, f->at[i].held, new->held))
			return true;
	return false;
}

static void span_add(struct blocks *b, struct variable *v, struct span *new)
{
	struct family *f = family_at(b, map_get(&b->families, family_key(v->life, new)));

	while (f && !family_covers(b, f, new))
		f = family_at(b, f->more);
	if (!f)
		span_add_new(b, v, new);
}

/* An access with all that it takes to make spans that end there. */
struct now {
	struct blocks *b;
	struct line *l;
	struct variable *v;
	const struct event *e;
	const struct activations *open;
	struct end end;
};

static void span_to(const struct now *now, const struct end *from, enum span_ops ops, const struct activation *a)
{
	struct span s = {
		.sight[0] = {from->at, now->end.at, block_of(a, now->e->thread), from->period},
		.held = held_since(now->b, now->l, now->e->line, mark_seq(&from->at)),
		.last = from->period == now->end.period ? 0 : now->end.period,
		.ops = ops,
	};

	span_add(now->b, now->v, &s);
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
	variable_of(b, x)->lines |= line_bit(line);
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
static void write_is_over(struct blocks *b, struct variable *v, const struct past *p, const struct activations *open)
{
	const struct activation *a = open ? transaction_of(open, mark_seq(&p->write.at)) : NULL;

	if (p->write.at.at)
		point_add(b, v, a && a->begin == p->transaction ? POINT_WRITE : POINT_FINAL, &p->write);
}

static bool reads(uint8_t kind)
{
	return event_is_read(kind) || kind == EVENT_ATOMIC_RMW;
}

static void access_in_block(const struct now *now)
{
	struct past *p = past_find(now->l, now->e->object);
	const struct activation *a = transaction_of(now->open, now->e->seq);

	if (!p)
		p = past_new(now->b, now->l, now->e->line, now->e->object);
	if (reads(now->e->kind)) {
		if (!a || !holds(now, a, mark_seq(&p->write.at)))
			point_add(now->b, now->v, POINT_READ, &now->end);
		read_spans(now, p);
		note_initial(now, p);
		p->read = now->end;
	}
	if (!event_is_read(now->e->kind)) {
		write_spans(now, p);
		write_is_over(now->b, now->v, p, now->open);
		p->write = now->end;
		p->transaction = a ? a->begin : 0;
	}
}

static void variable_new(struct blocks *b, struct variable *v, uint64_t x)
{
	v->life = ++b->lives;
	if (x >= b->variables)
		b->variables = x + 1;
}

static void blocks_access(void *self, const struct event *e)
{
	struct blocks *b = self;
	struct now now = {.b = b, .e = e, .open = run_open(b->run, e->line)};
	const struct held *h = run_held(b->run, e->line);

	if ((e->flags & EVENT_PRIVATE && !(b->on & BLOCKS_NO_ESCAPE)) || e->assumed & ASSUMED_MOVER)
		return;
	now.l = line_of(b, e->line);
	now.v = variable_of(b, e->object);
	if (!now.v->life)
		variable_new(b, now.v, e->object);
	now.end = (struct end){mark_of(e), held_now(b, now.l, h), blocks_period(b, e)};
	if (now.l->open) {
		access_in_block(&now);
		if (b->shapes)
			shapes_access(b, e, now.end.held);
		return;
	}
	if (reads(e->kind))
		point_add(b, now.v, POINT_READ, &now.end);
	if (!event_is_read(e->kind))
		point_add(b, now.v, POINT_FINAL, &now.end);
	if (b->shapes)
		shapes_lone(b, e, now.end.held);
}

/* No block is open any more: all last writes were final. */
static void line_over(struct blocks *b, uint32_t line)
{
	struct line *l = line_of(b, line);

	for (uint32_t i = 0; i < l->pasts; i++) {
		const struct past *p = seg_at(&l->past, i, sizeof *p);
		struct variable *v = variable_of(b, p->x);

		write_is_over(b, v, p, NULL);
		if (line < LINE_OTHERS)
			v->lines &= ~line_bit(line);
	}
	l->pasts = 0;
	l->generation++;
}

static void blocks_open(void *self, const struct event *e)
{
	struct blocks *b = self;

	line_of(b, e->line)->open++;
	if (b->shapes)
		shapes_open(b, e);
}

static void blocks_cut(void *self, const struct event *e)
{
	struct blocks *b = self;

	if (b->shapes)
		shapes_cut(b, e);
}

static void blocks_close(void *self, const struct event *e)
{
	struct blocks *b = self;
	struct line *l = line_of(b, e->line);

	if (b->shapes)
		shapes_close(b, e);
	if (--l->open == 0)
		line_over(b, e->line);
}

/* Comparing. */

static const char *const pattern_names[] = {
	[SPAN_RR] = "R-W-R", [SPAN_RW] = "R-W-W", [SPAN_WR] = "W-W-R", [SPAN_WW] = "W-R-W",
};

/* The four unserializable patterns. */
static bool is_pattern(enum span_ops ops, enum point_op between)
{
	switch (ops) {
	case SPAN_WW: return between == POINT_READ;
	case SPAN_RW: return between == POINT_FINAL;
	default: return between != POINT_READ;
	}
}

static bool can_occur_between(struct blocks *b, const struct point *p, const struct span *s)
{
	if (guard_excludes(&b->guards, p->held, s->held))
		return false;
	if (s->last)
		return period_sets_fit(&b->sets, s->periods, s->last, p->periods);
	return period_sets_concurrent(&b->sets, s->periods, p->periods);
}

static struct access access_of(struct blocks *b, const struct blocks_access *at)
{
	const struct mark *m = &at->mark;
	struct access a = {
		.kind = m->kind, .flags = m->flags, .thread = m->thread, .value = m->value,
		.site = m->site, .stack = m->stack, .seq = mark_seq(m),
	};

	run_variable(b->run, at->x, &a);
	return a;
}

void blocks_report(struct blocks *b, struct block block, const char *kind, const struct blocks_access *at, size_t links)
{
	struct link *path = arena_alloc(b->arena, links * sizeof *path);
	struct finding f = {.block = block, .verdict = VERDICT_SUSPECTED, .path = path, .links = links};

	for (size_t i = 0; i < links; i++)
		path[i] = (struct link){access_of(b, &at[2 * i]), access_of(b, &at[2 * i + 1]), true};
	findings_add(b->run->findings, &f,
		(struct evidence){.check = "blocks", .kind = kind, .seq = path[links - 1].to.seq});
	arena_recycle(b->arena, path, links * sizeof *path);
}

/* Which two sights to show together: of two threads, and at the same time if there are such. */
struct shown {
	const struct sight *sight;
	const struct mark *at;
};

static struct shown show(const struct span *s, const struct point *p)
{
	for (size_t i = 0; i < 4; i++) {
		const struct sight *sight = &s->sight[i & 1];
		const struct mark *at = &p->at[i >> 1];

		if (sight->first.at && at->at && sight->block.thread != at->thread)
			return (struct shown){sight, at};
	}
	return (struct shown){&s->sight[0], &p->at[0]};
}

static void report_span(struct blocks *b, uint64_t x, const struct span *s, const struct point *p)
{
	struct shown w = show(s, p);
	struct blocks_access at[] = {{w.sight->first, x}, {*w.at, x}, {*w.at, x}, {w.sight->second, x}};

	blocks_report(b, w.sight->block, pattern_names[s->ops], at, 2);
}

/* What every access to the variable holds; 0 also if nobody writes it, or if there is but one line. */
struct protection {
	guard_id held;
	bool possible; /* of something to report */
};

static struct protection protection_of(struct blocks *b, const struct variable *v)
{
	struct protection p = {0};
	bool first = true, write = false;

	for (const struct point *at = v->points; at; at = at->next) {
		p.held = first ? at->held : guard_meet(&b->guards, p.held, at->held);
		write |= at->op != POINT_READ;
		first = false;
	}
	p.possible = v->spans && write;
	return p;
}

static const struct point *point_between(struct blocks *b, const struct variable *v, const struct span *s)
{
	for (const struct point *p = v->points; p; p = p->next)
		if (is_pattern(s->ops, p->op) && can_occur_between(b, p, s))
			return p;
	return NULL;
}

/* Whether the block is reported for the variable already; it is from now on. */
static bool is_reported(struct blocks *b, uint64_t x, const struct block *block)
{
	uint32_t *known = map_put(&b->reported, hash_pair(x, blocks_blame(block)));
	bool was = *known;

	*known = 1;
	return was;
}

static void compare_span(struct blocks *b, uint64_t x, const struct span *s)
{
	const struct point *p = point_between(b, variable_of(b, x), s);

	if (p && !is_reported(b, x, &s->sight[0].block))
		report_span(b, x, s, p);
}

static void compare_variable(struct blocks *b, uint64_t x)
{
	const struct variable *v = variable_of(b, x);
	struct protection p = protection_of(b, v);

	for (const struct span *s = span_at(b, p.possible ? v->spans : 0); s; s = span_at(b, s->next))
		if (!guard_excludes(&b->guards, s->held, p.held))
			compare_span(b, x, s);
}

/* Variables that begin, end and divide. */

/* The next line from this one on that may have a past of the variable; 0 if there is none. */
static uint32_t next_line(const struct blocks *b, const struct variable *v, uint32_t line)
{
	for (; line <= b->run->lines; line++)
		if (v->lines & line_bit(line))
			return line;
	return 0;
}

/* What blocks still have open of the variable is over. */
static void pasts_over(struct blocks *b, struct variable *v, uint64_t x)
{
	for (uint32_t line = next_line(b, v, 1); line; line = next_line(b, v, line + 1)) {
		struct past *p = past_find(line_of(b, line), x);

		if (!p)
			continue;
		write_is_over(b, v, p, NULL);
		p->write.at.at = p->read.at.at = p->count = 0;
	}
}

static void family_drop(struct blocks *b, uint32_t *number)
{
	for (struct family *f = family_at(b, *number); f; f = family_at(b, *number)) {
		uint32_t more = f->more;

		f->more = b->spare_family;
		b->spare_family = *number;
		*number = more;
	}
}

static void spans_drop(struct blocks *b, const struct variable *v)
{
	for (const struct span *s = span_at(b, v->spans); s; s = span_at(b, s->next))
		family_drop(b, map_put(&b->families, family_key(v->life, s)));
	if (v->spans) {
		span_at(b, v->last_span)->next = b->spare_span;
		b->spare_span = v->spans;
	}
}

static void points_drop(struct blocks *b, const struct variable *v)
{
	for (struct point *p = v->points, *next; p; p = next) {
		next = p->next;
		arena_recycle(b->arena, p, sizeof *p);
	}
}

static void blocks_forget(void *self, uint64_t x)
{
	struct blocks *b = self;
	struct variable *v = variable_of(b, x);

	pasts_over(b, v, x);
	compare_variable(b, x);
	if (b->shapes)
		shapes_forget(b, x, protection_of(b, v).held);
	spans_drop(b, v);
	points_drop(b, v);
	*v = (struct variable){.lines = v->lines};
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

static void points_copy(struct blocks *b, const struct variable *from, struct variable *to)
{
	struct point **place = &to->points;

	for (const struct point *p = from->points; p; p = p->next, place = &(*place)->next) {
		*place = arena_alloc(b->arena, sizeof *p);
		**place = *p;
		(*place)->next = NULL;
	}
}

static void spans_copy(struct blocks *b, const struct variable *from, struct variable *to)
{
	for (const struct span *s = span_at(b, from->spans); s; s = span_at(b, s->next)) {
		uint32_t *number = map_put(&b->families, family_key(to->life, s));

		*number = family_put(b, *number, span_new(b, to, s));
	}
}

static void blocks_split(void *self, uint64_t x, uint64_t y)
{
	struct blocks *b = self;
	struct variable *from = variable_of(b, x), *to = variable_of(b, y);

	*to = (struct variable){0};
	variable_new(b, to, y);
	points_copy(b, from, to);
	spans_copy(b, from, to);
	for (uint32_t line = next_line(b, from, 1); line; line = next_line(b, from, line + 1)) {
		const struct past *p = past_find(line_of(b, line), x);

		if (p)
			past_copy(b, line, p, y);
	}
}

static void *blocks_start(struct run *run);

static void compare_shapes(struct blocks *b)
{
	shapes_finish(b);
	for (uint32_t i = 1; i <= b->shapes->lives; i++) {
		struct life *life = life_at(b->shapes, i);

		if (!life->over)
			life->protection = protection_of(b, variable_of(b, life->x)).held;
	}
	pairs_compare(b);
	if (b->on & BLOCKS_ALL)
		cycles_search(b);
}

static void blocks_finish(void *self)
{
	struct blocks *b = self;

	for (uint32_t line = 1; line <= b->run->lines; line++)
		line_over(b, line);
	for (uint64_t x = 0; x < b->variables; x++)
		compare_variable(b, x);
	if (b->shapes)
		compare_shapes(b);
}

static const struct refinement refinements[] = {
	{"1v", 0, "pairs of accesses to one variable (Theorem 3); always on"},
	{"2v", BLOCKS_2V, "and to two (Theorem 4)"},
	{"all", BLOCKS_2V | BLOCKS_ALL, "and cycles of three and more transactions (Theorem 5)"},
	{"none", BLOCKS_NO_ESCAPE | BLOCKS_NO_PERIODS, "by locks alone"},
	{"escape", BLOCKS_NO_PERIODS, "and without memory that only its own thread can reach"},
	{"happen-before", 0, "and by fork, join and barriers (default)"},
	{0},
};

const struct check check_blocks = {
	.name = "blocks",
	.summary = "blocks that another schedule could split, by locks and periods",
	.needs = NEED_HELD | NEED_PERIODS | NEED_ESCAPE,
	.refinements = refinements,
	.standard = 0,
	.start = blocks_start,
	.finish = blocks_finish,
	.on = {
		[ON_OPEN] = blocks_open,
		[ON_CLOSE] = blocks_close,
		[ON_CUT] = blocks_cut,
		[ON_ACCESS] = blocks_access,
		[ON_ACQUIRE] = blocks_acquire,
		[ON_RELEASE] = blocks_release,
	},
	.split = blocks_split,
	.forget = blocks_forget,
};

static void *blocks_start(struct run *run)
{
	struct blocks *b = arena_alloc(run->arena, sizeof *b);

	b->run = run;
	b->arena = run->arena;
	b->on = run_refinements(run, &check_blocks);
	guards_init(&b->guards, run->arena, &run->held.locksets);
	period_sets_init(&b->sets, run->arena, b->on & BLOCKS_NO_PERIODS ? NULL : &run->periods);
	seg_init(&b->line, run->arena, sizeof(struct line));
	seg_init(&b->variable, run->arena, sizeof(struct variable));
	seg_init(&b->span, run->arena, sizeof(struct span));
	seg_init(&b->family, run->arena, sizeof(struct family));
	map_init(&b->families, run->arena);
	map_init(&b->reported, run->arena);
	if (b->on & BLOCKS_2V)
		b->shapes = shapes_new(run->arena, b->on & BLOCKS_ALL);
	return b;
}
