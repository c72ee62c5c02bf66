/* SPDX-License-Identifier: MIT */
#include "scene.h"

#include "base/arena.h"
#include "check/check.h"
#include "state/diary.h"

/* Diaries as spans of locks. */

static struct held_span *open_span(struct held_spans *s, sync_id lock)
{
	for (size_t i = s->count; i-- > 0;)
		if (s->at[i].lock == lock && s->at[i].open)
			return &s->at[i];
	return NULL;
}

static struct held_span *add_span(struct held_spans *s, struct arena *a, struct held_span span)
{
	s->at = arena_reserve(a, s->at, &s->capacity, s->count, sizeof span);
	s->at[s->count] = span;
	return &s->at[s->count++];
}

static void read_note(struct held_spans *s, struct arena *a, const struct diary *d, uint64_t i)
{
	const struct note *n = diary_note(d, i);
	struct held_span *span;

	switch (n->kind) {
	case EVENT_ACQUIRE:
	case EVENT_ACQUIRE_SHARED:
		add_span(s, a, (struct held_span){.lock = (sync_id)n->object, .from = i, .to = d->count - 1, .begun = true,
			.open = true, .shared = n->kind == EVENT_ACQUIRE_SHARED, .waited = n->flags & EVENT_WAITED});
		break;
	case EVENT_RELEASE:
	case EVENT_RELEASE_SHARED:
		span = open_span(s, (sync_id)n->object);
		if (!span)
			span = add_span(s, a, (struct held_span){.lock = (sync_id)n->object, .from = diary_first(d),
				.shared = n->kind == EVENT_RELEASE_SHARED});
		span->to = i;
		span->open = false;
		break;
	default: break;
	}
}

void held_spans_read(struct held_spans *s, struct arena *a, const struct diary *d)
{
	s->count = 0;
	for (uint64_t i = diary_first(d); i < d->count; i++)
		read_note(s, a, d, i);
}

/* Sides. */

bool scene_note(const struct diary *d, const struct access *a, uint64_t *note)
{
	bool whole;

	for (*note = diary_since(d, a->seq, &whole); *note < d->count; ++*note) {
		const struct note *n = diary_note(d, *note);

		if (n->seq != a->seq)
			return false;
		if (n->kind == a->kind)
			return true;
	}
	return false;
}

static bool side_find(struct side *s, const struct scene *c, const struct access *a, size_t scratch)
{
	if (!a->kind || !a->thread)
		return false;
	s->line = run_line(c->run, a->thread);
	s->diary = diary_of(&c->run->diaries, s->line);
	s->spans = &c->spans[scratch];
	return scene_note(s->diary, a, &s->note);
}

/* The section grows by a lock that is held at its note. */
static void side_add(struct side *s, const struct held_span *span)
{
	if (!s->outer || span->from < s->section.from)
		s->outer = span;
	if (span->from < s->section.from)
		s->section.from = span->from;
	if (span->to > s->section.to)
		s->section.to = span->to;
	if (span->open)
		s->running = span->lock;
	s->whole &= span->begun;
}

/* By itself: all notes of its event. */
static void side_start(struct side *s)
{
	uint64_t seq = diary_note(s->diary, s->note)->seq, to = s->note;

	while (to + 1 < s->diary->count && diary_note(s->diary, to + 1)->seq == seq)
		to++;
	s->section = (struct range){s->note, to};
	s->outer = NULL;
	s->running = 0;
	s->whole = true;
}

/* Which locks are given back before the second end, and which are taken after the first. */
static void own_sections(struct scene *c)
{
	const struct held_spans *spans = c->first.spans;
	struct side *first = &c->first, *second = &c->second;
	bool whole;
	uint64_t begin = diary_since(first->diary, c->f->block.seq, &whole);

	side_start(first);
	side_start(second);
	for (size_t i = 0; i < spans->count; i++) {
		const struct held_span *s = &spans->at[i];

		if (span_holds(s, first->note) && s->to < second->note)
			side_add(first, s);
		if (span_holds(s, second->note) && s->from > first->note)
			side_add(second, s);
	}
	if (!second->outer)
		second->section.from = first->section.to + 1;
	if (first->section.from < begin)
		first->section.from = begin;
	first->whole |= whole;
}

static void their_section(struct side *s)
{
	side_start(s);
	for (size_t i = 0; i < s->spans->count; i++)
		if (span_holds(&s->spans->at[i], s->note))
			side_add(s, &s->spans->at[i]);
}

/* Whether the note by itself comes before the culprit's if it stands before it. */
static bool orders(const struct note *n, const struct note *culprit)
{
	if (n->object != culprit->object)
		return false;
	if (event_is_access(culprit->kind))
		return event_is_access(n->kind) && !(event_is_read(n->kind) && event_is_read(culprit->kind));
	if (culprit->kind == EVENT_ACQUIRE)
		return n->kind == EVENT_RELEASE || n->kind == EVENT_RELEASE_SHARED;
	return culprit->kind == EVENT_ACQUIRE_SHARED && n->kind == EVENT_RELEASE;
}

static struct access access_of(struct run *run, const struct note *n, thread_id t)
{
	struct access a = {.kind = n->kind, .flags = n->flags, .thread = t, .object = n->object, .site = n->site,
		.stack = n->stack, .seq = n->seq};

	if (event_is_access(n->kind)) {
		run_variable(run, n->object, &a);
		a.value = n->value;
	}
	return a;
}

/* The culprit's last operation, or the acquire of the lock that it gives back with it: what the first end is before. */
static bool find_culprit(struct scene *c, struct side *s)
{
	if (!side_find(s, c, &c->f->path[c->f->links - 1].from, 1))
		return false;
	if (event_is_access(diary_note(s->diary, s->note)->kind))
		return true;
	held_spans_read(&c->spans[1], c->run->arena, s->diary);
	for (size_t i = 0; i < s->spans->count; i++)
		if (s->spans->at[i].to == s->note && s->spans->at[i].begun && !s->spans->at[i].open) {
			s->note = s->spans->at[i].from;
			return true;
		}
	return false;
}

/* The last note of the window that is before the culprit's by the same object; the first end's own if none is. */
static uint64_t last_before(const struct scene *c, const struct note *culprit)
{
	uint64_t note = c->second.note;

	while (note > c->first.note && (diary_note(c->first.diary, note)->seq > culprit->seq ||
		!orders(diary_note(c->first.diary, note), culprit)))
		note--;
	return note;
}

/*
 * A check may name the first operation of a block that a culprit has seen, and the way from there. The last one makes
 * the window that was needed: whatever lies between them is not part of it. Only where the culprit stands inside, and
 * where memory that has had two lives cannot look like one object.
 */
static void tighten(struct scene *c, size_t i)
{
	const struct finding *f = c->f;
	const struct link *last = &f->path[f->links - 1];
	struct side s = {0};
	struct link link;
	uint64_t note;

	if (last->from.seq >= last->to.seq || run_has_new_lives(c->run) || !find_culprit(c, &s))
		return;
	note = last_before(c, diary_note(s.diary, s.note));
	link.from = access_of(c->run, diary_note(c->first.diary, note), f->block.thread);
	link.to = access_of(c->run, diary_note(s.diary, s.note), last->from.thread);
	link.data = event_is_access(link.to.kind);
	if (note == c->first.note || finding_has_data(f) != (link.data && last->data))
		return;
	c->first.note = note;
	findings_tighten(c->run->findings, i, &link);
}

static bool own_sides(struct scene *c, size_t i)
{
	if (!side_find(&c->first, c, &c->f->path[0].from, 0) ||
		!side_find(&c->second, c, &c->f->path[c->f->links - 1].to, 0) || c->first.note >= c->second.note)
		return false;
	tighten(c, i);
	held_spans_read(&c->spans[0], c->run->arena, c->first.diary);
	own_sections(c);
	return true;
}

static bool their_side(struct scene *c, size_t i, const struct access *a)
{
	if (!side_find(&c->theirs[i], c, a, i + 1))
		return false;
	held_spans_read(&c->spans[i + 1], c->run->arena, c->theirs[i].diary);
	their_section(&c->theirs[i]);
	return c->theirs[i].whole;
}

/* The first culprit's section and, if it is another one, the last one's. */
static void their_sides(struct scene *c)
{
	const struct finding *f = c->f;
	const struct side *one = &c->theirs[0], *other = &c->theirs[1];

	c->alone = f->links < 2 || !c->run->accesses || !their_side(c, 0, &f->path[0].to) ||
		!their_side(c, 1, &f->path[f->links - 1].from);
	if (c->alone)
		return;
	c->culprits = one->line == other->line && one->section.from == other->section.from &&
		one->section.to == other->section.to ? 1 : 2;
}

bool scene_look(struct scene *c, size_t i)
{
	if (!own_sides(c, i))
		return false;
	their_sides(c);
	return true;
}
