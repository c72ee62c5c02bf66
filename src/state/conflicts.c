/* SPDX-License-Identifier: MIT */
#include "conflicts.h"

void conflicts_init(struct conflicts *c, struct arena *a, void *self,
	void (*edge)(void *self, const struct mark *from, const struct event *e, bool data))
{
	*c = (struct conflicts){.arena = a, .self = self, .edge = edge};
	seg_init(&c->variable, a, sizeof(struct last));
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
void conflicts_past(struct conflicts *c, const struct event *e)
{
	struct last *x = last_of(&c->variable, e->object);

	if (is_later(&x->write, e))
		return;
	if (event_is_read(e->kind) && !has_read_later(x, e))
		last_read(x, c->arena, mark_of(e));
	else if (!event_is_read(e->kind) && !has_read_later(x, e))
		last_write(x, c->arena, mark_of(e));
	else if (!event_is_read(e->kind))
		x->write = mark_of(e);
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
	last_copy(last_of(&c->variable, y), last_of(&c->variable, x), c->arena);
}

void conflicts_forget(struct conflicts *c, uint64_t x)
{
	last_reset(last_of(&c->variable, x), c->arena);
}
