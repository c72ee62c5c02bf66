/* SPDX-License-Identifier: MIT */
#include "conflicts.h"

static void copy(void *self, void *to, const void *from)
{
	struct conflicts *c = self;

	last_copy(to, from, c->arena);
}

static void drop(void *self, void *record)
{
	struct conflicts *c = self;

	last_reset(record, c->arena);
}

void conflicts_init(struct conflicts *c, struct arena *a, void *self,
	void (*edge)(void *self, const struct mark *from, const struct event *e, bool data))
{
	*c = (struct conflicts){.arena = a, .self = self, .edge = edge};
	shares_init(&c->variable, a, sizeof(struct last), (struct shares_owner){c, copy, drop});
	seg_init(&c->lock, a, sizeof(struct last));
	seg_init(&c->semaphore, a, sizeof(struct last));
}

static struct last *last_of(struct seg *s, uint64_t i)
{
	return seg_at(s, i, sizeof(struct last));
}

/* Whether the line has done something at that time or later. */
static bool is_later(const struct mark *m, const struct event *e)
{
	return m->at && mark_line(m) == e->line && mark_seq(m) >= e->seq;
}

static bool has_read_later(const struct last *l, const struct event *e)
{
	size_t n;
	const struct mark *m = last_readers(l, &n);

	for (size_t i = 0; i < n; i++)
		if (is_later(&m[i], e))
			return true;
	return false;
}

/* Nobody else came in between, so a write is the last one, and all reads but the line's own later ones are before it. */
static inline __attribute__((always_inline)) void past(struct conflicts *c, struct last *x, const struct event *e)
{
	if (is_later(&x->write, e))
		return;
	if (event_is_read(e->kind) && !has_read_later(x, e))
		last_read(x, c->arena, mark_of(e));
	else if (!event_is_read(e->kind) && !has_read_later(x, e))
		last_write(x, c->arena, mark_of(e));
	else if (!event_is_read(e->kind))
		x->write = mark_of(e);
}

/* What becomes of a record depends on the mark, and on whether it is late: that is all there is to the deed. */
static struct share_deed deed_of(const struct event *e, bool late)
{
	struct mark m = mark_of(e);

	return (struct share_deed){{m.at, m.value, (uint64_t)m.site << 32 | m.stack, m.thread,
		(uint64_t)m.kind << 16 | (uint64_t)m.flags << 8 | late}};
}

void conflicts_past(struct conflicts *c, const struct event *e)
{
	past(c, shares_own(&c->variable, e->object, sizeof(struct last)), e);
}

void conflicts_past_one(struct conflicts *c, const struct event *e)
{
	struct share_deed deed;
	struct last *x;

	if (shares_is_own(&c->variable, e->object)) {
		conflicts_past(c, e);
		return;
	}
	deed = deed_of(e, true);
	x = shares_become(&c->variable, e->object, &deed);
	if (x)
		past(c, x, e);
}

void conflicts_read_one(struct conflicts *c, const struct event *e)
{
	struct share_deed deed;
	struct last *x;

	if (shares_is_own(&c->variable, e->object)) {
		conflicts_read(c, e);
		return;
	}
	conflicts_edge(c, &((const struct last *)shares_look(&c->variable, e->object))->write, e, true);
	deed = deed_of(e, false);
	x = shares_become(&c->variable, e->object, &deed);
	if (x)
		last_read(x, c->arena, mark_of(e));
}

void conflicts_write_one(struct conflicts *c, const struct event *e)
{
	const struct last *before;
	struct share_deed deed;
	struct last *x;

	if (shares_is_own(&c->variable, e->object)) {
		conflicts_write(c, e);
		return;
	}
	before = shares_look(&c->variable, e->object);
	conflicts_edge(c, &before->write, e, true);
	conflicts_edges(c, before, e, true);
	deed = deed_of(e, false);
	x = shares_become(&c->variable, e->object, &deed);
	if (x)
		last_write(x, c->arena, mark_of(e));
}

void conflicts_acquire(struct conflicts *c, const struct event *e)
{
	const struct last *m = last_of(&c->lock, e->object);

	conflicts_edge(c, &m->write, e, false);
	conflicts_edges(c, m, e, false);
}

void conflicts_acquire_shared(struct conflicts *c, const struct event *e)
{
	conflicts_edge(c, &last_of(&c->lock, e->object)->write, e, false);
}

void conflicts_release(struct conflicts *c, const struct event *e)
{
	last_write(last_of(&c->lock, e->object), c->arena, mark_of(e));
}

void conflicts_release_shared(struct conflicts *c, const struct event *e)
{
	last_read(last_of(&c->lock, e->object), c->arena, mark_of(e));
}

void conflicts_post(struct conflicts *c, const struct event *e)
{
	last_read(last_of(&c->semaphore, e->object), c->arena, mark_of(e));
}

void conflicts_take(struct conflicts *c, const struct event *e)
{
	conflicts_edges(c, last_of(&c->semaphore, e->object), e, false);
}

void conflicts_split(struct conflicts *c, uint64_t x, uint64_t y)
{
	shares_split(&c->variable, x, y);
}

void conflicts_forget(struct conflicts *c, uint64_t x)
{
	shares_forget(&c->variable, x);
}
