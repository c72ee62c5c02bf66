/* SPDX-License-Identifier: MIT */
#include "path.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "check/check.h"
#include "state/lines.h"

/* The start or the end of a thread, as one end of a hop. */
static struct mark far_end(uint64_t seq, uint64_t line, uint64_t thread)
{
	return (struct mark){.at = seq << MARK_LINE_BITS | line, .thread = (thread_id)thread};
}

struct kept_hop *hop_keep(struct kept_hop *h)
{
	h->users++;
	return h;
}

struct kept_hop *lesson_keep(struct lesson *l, struct arena *a)
{
	if (!l->kept) {
		l->kept = arena_alloc(a, sizeof *l->kept);
		l->kept->hop = *l->hop;
	}
	return hop_keep(l->kept);
}

void hop_drop(struct kept_hop *h, struct arena *a)
{
	if (--h->users == 0)
		arena_recycle(a, h, sizeof *h);
}

static void path_prepend(struct path *p, const struct hop *h)
{
	p->hop = arena_reserve(p->arena, p->hop, &p->capacity, p->count, sizeof *h);
	p->hop[p->count++] = *h;
}

static void prepend_fork(struct path *p, const struct birth *b, uint32_t line)
{
	path_prepend(p, &(struct hop){b->fork, far_end(mark_seq(&b->fork), line, b->thread), b->thread, true});
}

/* From the end of the line's former thread to the fork of the next one. Returns that end. */
static struct mark prepend_joins(struct path *p, const struct birth *b, uint32_t line)
{
	struct mark end = {0};

	for (size_t i = b->joins.count; i-- > 0;) {
		const struct mark *join = &b->joins.at[i];

		end = far_end(mark_seq(join), i ? mark_line(&b->joins.at[i - 1]) : line, join->value);
		path_prepend(p, &(struct hop){end, *join, join->value, true});
	}
	return end;
}

/* Whether the path may go on from the mark: it is home, or the guide knows the way. */
static bool leads_home(const struct path_guide *g, const struct mark *at)
{
	if (mark_line(at) == g->t)
		return mark_seq(at) >= g->begin;
	return g->learned(g->self, at, g->t) != NULL;
}

/*
 * A line that several threads have had in turn knows what the earlier ones learned. The path then goes by the fork
 * of the later one, whose parent had joined them and knew it too; or, where a check has left that join out of its
 * order because it closed a cycle, by the join itself.
 */
void path_back(struct path *p, struct run *run, const struct hop *last, const struct path_guide *g)
{
	struct mark at = last->from;

	p->count = 0;
	path_prepend(p, last);
	while (mark_line(&at) != g->t) {
		uint32_t line = mark_line(&at);
		const struct hop *h = g->learned(g->self, &at, g->t);
		const struct birth *b = run_birth(run, line, mark_seq(&at));

		assert(h);
		if (!b || mark_seq(&b->fork) <= mark_seq(&h->to)) {
			path_prepend(p, h);
			at = h->from;
			continue;
		}
		prepend_fork(p, b, line);
		at = leads_home(g, &b->fork) ? b->fork : prepend_joins(p, b, line);
	}
}

/* Whether an operation orders a later one on the same object by itself. */
static bool orders(const struct mark *from, const struct mark *to)
{
	if (event_is_access(from->kind) && event_is_access(to->kind))
		return !event_is_read(from->kind) || !event_is_read(to->kind);
	if (from->kind == EVENT_RELEASE)
		return to->kind == EVENT_ACQUIRE || to->kind == EVENT_ACQUIRE_SHARED;
	return from->kind == EVENT_RELEASE_SHARED && to->kind == EVENT_ACQUIRE;
}

/* Whether the way from where `first` starts to where `last` ends is one hop. */
static bool is_one_hop(const struct hop *first, const struct hop *last)
{
	return first->data == last->data && first->object == last->object &&
	       mark_seq(&first->from) < mark_seq(&last->to) && mark_line(&first->from) != mark_line(&last->to) &&
	       orders(&first->from, &last->to);
}

/*
 * A path by the hops through which something was learned may go through every thread there is, all on one variable:
 * whatever two of its ends order each other directly need nothing between them. Memory that has had two lives may
 * only look like one object.
 */
static void shorten(struct path *p, const struct run *run)
{
	size_t kept = 0, first = p->count - 1;

	if (p->count < 3 || run_has_new_lives(run))
		return;
	for (;;) {
		size_t last = 0;

		while (last < first && !is_one_hop(&p->hop[first], &p->hop[last]))
			last++;
		p->hop[first].to = p->hop[last].to;
		kept++;
		p->hop[p->count - kept] = p->hop[first];
		if (last == 0)
			break;
		first = last - 1;
	}
	memmove(p->hop, p->hop + p->count - kept, kept * sizeof *p->hop);
	p->count = kept;
}

struct access path_access(struct run *run, const struct mark *m, uint64_t object)
{
	struct access a = {
		.kind = m->kind,
		.flags = m->flags,
		.thread = m->thread,
		.object = object,
		.site = m->site,
		.stack = m->stack,
		.seq = mark_seq(m),
	};

	if (event_is_access(m->kind)) {
		run_variable(run, object, &a);
		a.value = m->value;
	}
	return a;
}

void path_report(struct path *p, struct run *run, struct block block, struct evidence evidence)
{
	struct finding f = {.block = block, .verdict = VERDICT_OBSERVED};
	struct link *links;

	shorten(p, run);
	links = arena_alloc(run->arena, p->count * sizeof *links);
	f.path = links;
	f.links = p->count;
	for (size_t i = 0; i < p->count; i++) {
		const struct hop *h = &p->hop[p->count - 1 - i];

		links[i].from = path_access(run, &h->from, h->object);
		links[i].to = path_access(run, &h->to, h->object);
		links[i].data = h->data;
		if (!h->data)
			f.verdict = VERDICT_SUSPECTED;
	}
	findings_add(run->findings, &f, evidence);
	arena_recycle(run->arena, links, p->count * sizeof *links);
}
