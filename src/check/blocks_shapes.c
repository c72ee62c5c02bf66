/* SPDX-License-Identifier: MIT */
#include "blocks_shapes.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"

/* What the report says of blocks that have more initial reads and final writes than are kept. */
static const char too_long[] = "blocks too long for cycles and pairs of variables";

/* A block that is open. */
struct opened {
	struct block block;
	guard_id start;
	size_t from;       /* of the log */
	uint32_t children; /* so far */
	bool lost;         /* it was too long */
	bool lone;         /* no block, just an access */
};

struct log {
	struct item *item;
	size_t count, capacity;
	struct opened *frame;
	size_t depth, room;
	struct event last; /* for the end of the trace */
};

/* Items of a log that have become a transaction's, and the period in which they have. */
struct part {
	struct item *item;
	size_t count;
	period_id period;
};

struct shapes *shapes_new(struct arena *a, bool small)
{
	struct shapes *s = arena_alloc(a, sizeof *s);

	s->small = small;
	seg_init(&s->line, a, sizeof(struct log));
	seg_init(&s->shape, a, sizeof(struct shape));
	seg_init(&s->life_of, a, sizeof(uint32_t));
	seg_init(&s->life, a, sizeof(struct life));
	map_init(&s->by_content, a);
	return s;
}

static struct log *log_of(struct blocks *b, uint32_t line)
{
	return seg_at(&b->shapes->line, line, sizeof(struct log));
}

static uint32_t life_of(struct shapes *s, uint64_t x)
{
	uint32_t *life = seg_at(&s->life_of, x, sizeof *life);

	if (!*life) {
		*life = ++s->lives;
		life_at(s, *life)->x = x;
	}
	return *life;
}

void shapes_forget(struct blocks *b, uint64_t x, guard_id protection)
{
	uint32_t *life = seg_at(&b->shapes->life_of, x, sizeof *life);

	if (*life) {
		life_at(b->shapes, *life)->protection = protection;
		life_at(b->shapes, *life)->over = true;
	}
	*life = 0;
}

/* What goes. */

static bool writes_in(const struct item *from, const struct item *to, uint32_t object)
{
	for (; from < to; from++)
		if (from->op == ITEM_WRITE && from->object == object)
			return true;
	return false;
}

/* Reads that are not initial, and writes that are not final. */
static void mark_gone(struct item *from, struct item *end)
{
	for (struct item *i = from; i < end; i++) {
		if (i->op == ITEM_READ)
			i->gone = writes_in(from, i, i->object);
		else if (i->op == ITEM_WRITE)
			i->gone = writes_in(i + 1, end, i->object);
	}
}

/* Whether the last of the items is a read that says no more than one before it: no lock was touched in between. */
static bool is_again(const struct item *from, const struct item *last)
{
	if (last->op != ITEM_READ)
		return false;
	for (const struct item *j = last; j-- > from && item_is_access(j);)
		if (j->op == ITEM_READ && j->object == last->object && j->child == last->child)
			return true;
	return false;
}

/* Whether the last of the items ends an empty section that is the same as the one right before it. */
static bool is_again_empty(const struct item *from, const struct item *last)
{
	if (last - from < 3 || last->op != ITEM_RELEASE)
		return false;
	for (int k = 1; k <= 3; k++)
		if (last[-k].op != (k & 1 ? ITEM_ACQUIRE : ITEM_RELEASE) || last[-k].object != last->object ||
			last[-k].shared != last->shared || last[-k].child != last->child)
			return false;
	return true;
}

/* Keeps initial reads, final writes and locks of a log's part, and returns how many items that are. */
static size_t reduce(struct item *from, size_t count)
{
	struct item *to = from, *end = from + count;

	mark_gone(from, end);
	for (const struct item *i = from; i < end; i++) {
		if (i->gone)
			continue;
		*to++ = *i;
		if (is_again(from, to - 1))
			to--;
		else if (is_again_empty(from, to - 1))
			to -= 2;
	}
	return (size_t)(to - from);
}

/* Shapes. */

static uint64_t item_key(uint64_t h, const struct item *i)
{
	return hash_pair(h ^ ((uint64_t)i->object << 32 | i->held), (uint64_t)i->child << 8 | i->op << 1 | i->shared);
}

static bool item_same(const struct item *a, const struct item *b)
{
	return a->object == b->object && a->held == b->held && a->child == b->child && a->op == b->op &&
	       a->shared == b->shared;
}

static bool shape_same(const struct shape *s, const struct opened *f, const struct item *item, size_t count)
{
	if (s->count != count || s->start != f->start || s->lone != f->lone || s->block.thread != f->block.thread ||
		blocks_blame(&s->block) != blocks_blame(&f->block))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!item_same(&s->item[i], &item[i]))
			return false;
	return true;
}

static struct shape *shape_new(struct blocks *b, const struct opened *f, const struct item *item, size_t count)
{
	struct shape *s = shape_at(b->shapes, ++b->shapes->count);

	*s = (struct shape){.block = f->block, .start = f->start, .count = (uint32_t)count, .lone = f->lone};
	s->item = arena_alloc(b->arena, count * sizeof *item);
	memcpy(s->item, item, count * sizeof *item);
	return s;
}

static struct shape *shape_of(struct blocks *b, const struct opened *f, const struct item *item, size_t count)
{
	uint64_t key = hash_pair(blocks_blame(&f->block), (uint64_t)f->block.thread << 32 | f->start);
	uint32_t *number;

	for (size_t i = 0; i < count; i++)
		key = item_key(key, &item[i]);
	number = map_put(&b->shapes->by_content, key);
	for (uint32_t n = *number; n; n = shape_at(b->shapes, n)->next)
		if (shape_same(shape_at(b->shapes, n), f, item, count))
			return shape_at(b->shapes, n);
	shape_new(b, f, item, count)->next = *number;
	*number = b->shapes->count;
	return shape_at(b->shapes, *number);
}

/* From the first access to the last: what is held at each is known, so to pairs the locks around them say nothing. */
static struct part trimmed(struct part p)
{
	while (p.count && !item_is_access(&p.item[p.count - 1]))
		p.count--;
	for (; p.count && !item_is_access(p.item); p.count--)
		p.item++;
	return p;
}

/*
 * Only who accesses two variables can be split by a pair; and what was all done by one call is in the shape of that
 * call, with the same locks. The part begins with an access.
 */
static bool is_of_use(struct part p)
{
	bool two = false, apart = p.count && !p.item->child;

	for (size_t i = 1; i < p.count; i++) {
		if (!item_is_access(&p.item[i]))
			continue;
		two |= p.item[i].object != p.item->object;
		apart |= p.item[i].child != p.item->child;
	}
	return two && apart;
}

/* The open blocks are too long. What they call from now on may still have shapes. */
static void lose(struct blocks *b, struct log *l)
{
	for (size_t i = 0; i < l->depth; i++) {
		if (!l->frame[i].lost)
			findings_limit(b->run->findings, too_long, 1);
		l->frame[i].lost = true;
		l->frame[i].from = 0;
	}
	l->count = 0;
}

/* What the frame has done, reduced, becomes a shape: false if it is too long. */
static bool shape_keep(struct blocks *b, const struct opened *f, struct part part)
{
	struct part inner = trimmed(part);
	struct shape *s;

	if (part.count > SHAPE_MOST) {
		findings_limit(b->run->findings, too_long, 1);
		return false;
	}
	if (b->shapes->small ? !inner.count : !is_of_use(inner))
		return true;
	if (!b->shapes->small)
		part = inner;
	s = shape_of(b, f, part.item, part.count);
	s->periods = period_set_add(&b->sets, s->periods, part.period);
	return true;
}

static guard_id held_now(struct blocks *b, const struct event *e)
{
	const struct held *h = run_held(b->run, e->line);

	return guard_of(&b->guards, (struct guard){h->all, h->exclusive});
}

void shapes_open(struct blocks *b, const struct event *e)
{
	struct log *l = log_of(b, e->line);
	const struct activations *open = run_open(b->run, e->line);

	l->frame = arena_reserve(b->arena, l->frame, &l->room, l->depth, sizeof *l->frame);
	l->frame[l->depth++] = (struct opened){
		.block = block_of(&open->at[open->depth - 1], e->thread),
		.start = held_now(b, e),
		.from = l->count,
	};
	l->last = *e;
}

/* Where the frame's own part of the log ends. */
static size_t own_end(const struct log *l, size_t frame)
{
	return frame + 1 < l->depth ? l->frame[frame + 1].from : l->count;
}

/* Takes items out of the log; the parts of the frame and of those after it are behind them. */
static void log_remove(struct log *l, size_t frame, size_t from, size_t to)
{
	if (from == to)
		return;
	memmove(l->item + from, l->item + to, (l->count - to) * sizeof *l->item);
	l->count -= to - from;
	for (; frame < l->depth; frame++)
		l->frame[frame].from -= to - from;
}

/* Reduces the frame's own part if it has become long: so that costs a constant number of steps an item. */
static void shorten(struct blocks *b, struct log *l, size_t frame)
{
	size_t from = l->frame[frame].from, end = own_end(l, frame), left;

	if (end - from < 2 * SHAPE_MOST)
		return;
	left = reduce(l->item + from, end - from);
	log_remove(l, frame + 1, from + left, end);
	if (left > SHAPE_MOST)
		lose(b, l);
}

/* What the closed block leaves behind, from there to where the frame after it begins, is one call of its caller's. */
static void hand_on(struct blocks *b, struct log *l, size_t frame, size_t from)
{
	struct opened *caller = frame ? &l->frame[frame - 1] : NULL;
	size_t end = frame < l->depth ? l->frame[frame].from : l->count;

	if (!caller || caller->lost) {
		log_remove(l, frame, from, end);
		return;
	}
	caller->children++;
	for (size_t i = from; i < end; i++)
		l->item[i].child = caller->children;
	shorten(b, l, frame - 1);
}

static void close_innermost(struct blocks *b, struct log *l, period_id period)
{
	struct opened *f = &l->frame[--l->depth];
	size_t from = f->from;

	if (!f->lost && l->count > from) {
		l->count = from + reduce(l->item + from, l->count - from);
		if (!shape_keep(b, f, (struct part){l->item + from, l->count - from, period})) {
			lose(b, l);
			return;
		}
	}
	hand_on(b, l, l->depth, from);
}

/* The shape of a block whose end comes before that of blocks in it: what these have done is one call. */
static void shape_across(struct blocks *b, const struct log *l, size_t frame, period_id period)
{
	const struct opened *f = &l->frame[frame];
	size_t own = own_end(l, frame) - f->from, count = l->count - f->from;
	struct item *copy;

	if (count > 2 * SHAPE_MOST) {
		findings_limit(b->run->findings, too_long, 1);
		return;
	}
	copy = arena_alloc(b->arena, (count + 1) * sizeof *copy);
	for (size_t i = 0; i < count; i++) {
		copy[i] = l->item[f->from + i];
		if (i >= own)
			copy[i].child = f->children + 1;
	}
	shape_keep(b, f, (struct part){copy, reduce(copy, count), period});
	arena_recycle(b->arena, copy, (count + 1) * sizeof *copy);
}

/* The blocks that go on are from now on in its caller, which gets what it has done outside of them. */
static void close_across(struct blocks *b, struct log *l, size_t frame, period_id period)
{
	size_t from = l->frame[frame].from;

	if (!l->frame[frame].lost)
		shape_across(b, l, frame, period);
	l->depth--;
	memmove(&l->frame[frame], &l->frame[frame + 1], (l->depth - frame) * sizeof *l->frame);
	hand_on(b, l, frame, from);
}

void shapes_close(struct blocks *b, const struct event *e)
{
	struct log *l = log_of(b, e->line);
	size_t frame = l->depth - 1;

	while (frame && l->frame[frame].block.seq != b->run->closing->begin)
		frame--;
	if (frame + 1 == l->depth)
		close_innermost(b, l, blocks_period(b, e));
	else
		close_across(b, l, frame, blocks_period(b, e));
}

void shapes_cut(struct blocks *b, const struct event *e)
{
	struct log *l = log_of(b, e->line);
	guard_id held = held_now(b, e);
	size_t depth = l->depth;

	while (l->depth)
		close_innermost(b, l, blocks_period(b, e));
	l->count = 0;
	for (l->depth = depth; depth-- > 0;) {
		l->frame[depth].from = 0;
		l->frame[depth].children = 0;
		l->frame[depth].lost = false;
		l->frame[depth].start = held;
	}
}

static void put(struct blocks *b, const struct event *e, struct item item)
{
	struct log *l = log_of(b, e->line);
	struct opened *f = l->depth ? &l->frame[l->depth - 1] : NULL;

	if (!f || f->lost)
		return;
	shorten(b, l, l->depth - 1);
	if (f->lost)
		return;
	item.site = e->site;
	item.stack = e->stack;
	item.seq = (uint32_t)e->seq;
	item.kind = e->kind;
	item.flags = e->flags;
	l->item = arena_reserve(b->arena, l->item, &l->capacity, l->count, sizeof item);
	l->item[l->count++] = item;
	l->last = *e;
}

void shapes_lock(struct blocks *b, const struct event *e)
{
	bool acquire = e->kind == EVENT_ACQUIRE || e->kind == EVENT_ACQUIRE_SHARED;

	put(b, e, (struct item){
		.object = (uint32_t)e->object,
		.op = acquire ? ITEM_ACQUIRE : ITEM_RELEASE,
		.shared = e->kind == EVENT_ACQUIRE_SHARED || e->kind == EVENT_RELEASE_SHARED,
	});
}

void shapes_access(struct blocks *b, const struct event *e, guard_id held)
{
	struct item item = {.object = life_of(b->shapes, e->object), .held = held, .op = ITEM_READ};

	if (event_is_read(e->kind) || e->kind == EVENT_ATOMIC_RMW)
		put(b, e, item);
	item.op = ITEM_WRITE;
	if (!event_is_read(e->kind))
		put(b, e, item);
}

void shapes_lone(struct blocks *b, const struct event *e, guard_id held)
{
	struct opened lone = {
		.block = {.site = e->site, .thread = e->thread, .seq = e->seq}, .start = held, .lone = true};
	struct log *l = log_of(b, e->line);

	if (l->depth || !b->shapes->small)
		return;
	l->frame = arena_reserve(b->arena, l->frame, &l->room, 0, sizeof *l->frame);
	l->frame[l->depth++] = lone;
	shapes_access(b, e, held);
	close_innermost(b, l, blocks_period(b, e));
}

bool shape_walk_next(struct blocks *b, struct shape_walk *w)
{
	while (++w->at < w->shape->count) {
		const struct item *i = &w->shape->item[w->at];

		if (item_is_access(i))
			return true;
		if (i->op == ITEM_ACQUIRE) {
			w->taken = guard_add(&b->guards, w->taken, i->object, i->shared);
			continue;
		}
		w->held = guard_remove(&b->guards, w->held, i->object);
		if (lockset_has(b->guards.sets, guard_content(&b->guards, w->taken).all, i->object)) {
			w->taken = guard_remove(&b->guards, w->taken, i->object);
			w->middle = guard_add(&b->guards, w->middle, i->object, i->shared);
		}
	}
	return false;
}

static bool protects(struct blocks *b, const struct shape_walk *w, const struct item *i)
{
	return guard_excludes(&b->guards, w->held, life_at(b->shapes, i->object)->protection);
}

bool shape_is_open(struct blocks *b, const struct shape_walk *w)
{
	const struct item *i = &w->shape->item[w->from], *j = &w->shape->item[w->at];

	return (!i->child || i->child != j->child) && !(protects(b, w, i) && protects(b, w, j));
}

void shapes_finish(struct blocks *b)
{
	for (uint32_t line = 1; line <= b->run->lines; line++) {
		struct log *l = log_of(b, line);

		while (l->depth)
			close_innermost(b, l, blocks_period(b, &l->last));
	}
}

struct blocks_access shape_access(struct shapes *s, const struct shape *shape, uint32_t i)
{
	const struct item *item = &shape->item[i];
	uint64_t seq = shape->block.seq + (uint32_t)(item->seq - (uint32_t)shape->block.seq);
	struct mark m = {
		.at = seq << MARK_LINE_BITS, .site = item->site, .stack = item->stack,
		.thread = shape->block.thread, .kind = item->kind, .flags = item->flags & (uint8_t)~EVENT_VALUED,
	};

	return (struct blocks_access){m, life_at(s, item->object)->x};
}
