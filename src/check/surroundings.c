/* SPDX-License-Identifier: MIT */
#include "surroundings.h"

#include <stdlib.h>

#include "base/arena.h"
#include "check/check.h"
#include "finding/moment.h"
#include "state/diary.h"

/* An operation of the path. */
struct step {
	const struct access *access;
	enum role role;
	bool ends;
	size_t actor;      /* threads in the order in which the path meets them, the block's is 0 */
	bool known;        /* it is in its diary: */
	uint64_t note, x;  /* its note, and what that is about */
};

/* The first is worth most. */
enum worth { WORTH_PATH, WORTH_LOCK, WORTH_AROUND };

/* An event that may become a moment. */
struct pick {
	size_t actor;
	const struct step *step;   /* the operation of the path that it is, or NULL */
	const struct step *like;   /* one with the same variable */
	const struct diary *diary; /* NULL: it is a step that is not known */
	uint64_t note, until;
	uint64_t distance; /* in notes, from the nearest step of its thread */
	enum worth worth;
};

/* The steps. */

static bool is_same(const struct access *a, const struct access *b)
{
	return a->seq == b->seq && a->kind == b->kind && a->thread == b->thread && a->object == b->object;
}

static size_t actor_of(struct surroundings *s, thread_id t)
{
	for (size_t i = 0; i < s->steps; i++)
		if (s->step[i].access->thread == t)
			return s->step[i].actor;
	return s->actors++;
}

/* An access may be to several variables: the note that has the step's. */
static void find_variable(struct surroundings *s, struct step *p, const struct diary *d)
{
	const struct note *n = diary_note(d, p->note);

	for (uint64_t i = p->note; i < d->count && diary_note(d, i)->seq == n->seq; i++) {
		struct access a = {.flags = diary_note(d, i)->flags};

		if (diary_note(d, i)->kind != n->kind)
			continue;
		run_variable(s->run, diary_note(d, i)->object, &a);
		if (a.object != p->access->object)
			continue;
		p->note = i;
		return;
	}
}

static void find_step(struct surroundings *s, struct step *p)
{
	const struct diary *d;

	if (!p->access->kind)
		return;
	d = diary_of(&s->run->diaries, run_line(s->run, p->access->thread));
	p->known = scene_note(d, p->access, &p->note);
	if (!p->known)
		return;
	if (event_is_access(p->access->kind) && p->note + 1 < d->count &&
		diary_note(d, p->note + 1)->seq == p->access->seq)
		find_variable(s, p, d);
	p->x = diary_note(d, p->note)->object;
}

/* A check may know of no culprit: that is no operation. */
static void add_step(struct surroundings *s, const struct access *a, enum role role, bool ends)
{
	struct step p = {.access = a, .role = role, .ends = ends};

	if (!a->thread || (s->steps && is_same(s->step[s->steps - 1].access, a)))
		return;
	p.actor = actor_of(s, a->thread);
	find_step(s, &p);
	s->step = arena_reserve(s->run->arena, s->step, &s->step_capacity, s->steps, sizeof p);
	s->step[s->steps++] = p;
}

static void take_steps(struct surroundings *s, const struct finding *f)
{
	s->steps = 0;
	s->actors = 0;
	for (size_t i = 0; i < f->links; i++) {
		add_step(s, &f->path[i].from, i ? ROLE_CULPRIT : ROLE_FIRST, true);
		add_step(s, &f->path[i].to, i + 1 < f->links ? ROLE_CULPRIT : ROLE_SECOND, false);
	}
}

/* One thread. */

struct actor {
	struct surroundings *s;
	size_t number;
	thread_id thread;
	const struct diary *diary;
	struct range steps, hull; /* from its first step to its last, and with the sections around them */
};

static void add_pick(struct surroundings *s, struct pick p)
{
	s->pick = arena_reserve(s->run->arena, s->pick, &s->pick_capacity, s->picks, sizeof p);
	s->pick[s->picks++] = p;
}

/* The nearest step of the thread. */
static uint64_t distance_of(const struct actor *a, uint64_t note)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < a->s->steps; i++) {
		const struct step *p = &a->s->step[i];
		uint64_t d = p->note > note ? p->note - note : note - p->note;

		if (p->actor == a->number && p->known && d < least)
			least = d;
	}
	return least;
}

static const struct step *step_at(const struct actor *a, uint64_t note)
{
	for (size_t i = 0; i < a->s->steps; i++)
		if (a->s->step[i].actor == a->number && a->s->step[i].known && a->s->step[i].note == note)
			return &a->s->step[i];
	return NULL;
}

static void pick_note(const struct actor *a, struct pick p)
{
	p.actor = a->number;
	p.diary = a->diary;
	p.step = step_at(a, p.note);
	if (p.step)
		p.worth = WORTH_PATH;
	p.distance = distance_of(a, p.note);
	add_pick(a->s, p);
}

/* A step of the path with the same variable, or NULL. */
static const struct step *step_with(const struct surroundings *s, uint64_t x)
{
	for (size_t i = 0; i < s->steps; i++)
		if (s->step[i].known && event_is_access(s->step[i].access->kind) && s->step[i].x == x)
			return &s->step[i];
	return NULL;
}

static bool is_lock(uint8_t kind)
{
	return kind >= EVENT_ACQUIRE && kind <= EVENT_RELEASE_SHARED;
}

/* An access to several variables is one row: a step's own, or the first. */
static bool is_taken(const struct actor *a, const struct note *n)
{
	const struct surroundings *s = a->s;
	const struct pick *last = s->picks ? &s->pick[s->picks - 1] : NULL;

	for (size_t i = 0; i < s->steps; i++)
		if (s->step[i].actor == a->number && s->step[i].known && s->step[i].access->seq == n->seq &&
			s->step[i].access->kind == n->kind)
			return true;
	return last && last->diary == a->diary && diary_note(a->diary, last->note)->seq == n->seq &&
	       diary_note(a->diary, last->note)->kind == n->kind;
}

static void pick_around(const struct actor *a)
{
	for (uint64_t i = a->hull.from; i <= a->hull.to; i++) {
		const struct note *n = diary_note(a->diary, i);
		const struct step *same = event_is_access(n->kind) ? step_with(a->s, n->object) : NULL;

		if (is_lock(n->kind) || (event_is_access(n->kind) && !same))
			continue;
		if (step_at(a, i) || !is_taken(a, n))
			pick_note(a, (struct pick){.like = same, .note = i, .worth = WORTH_AROUND});
	}
}

static bool is_held(const struct actor *a, const struct held_span *span)
{
	for (size_t i = 0; i < a->s->steps; i++) {
		const struct step *p = &a->s->step[i];

		if (p->actor == a->number && p->known && span_holds(span, p->note))
			return true;
	}
	return false;
}

static bool is_in(struct range r, uint64_t note)
{
	return r.from <= note && note <= r.to;
}

static void pick_span(const struct actor *a, const struct held_span *span)
{
	enum worth worth = is_held(a, span) ? WORTH_LOCK : WORTH_AROUND;
	uint64_t until = span->open ? 0 : diary_note(a->diary, span->to)->seq;

	if (span->begun && (worth == WORTH_LOCK || is_in(a->hull, span->from)))
		pick_note(a, (struct pick){.note = span->from, .until = until, .worth = worth});
	if (!span->open && (worth == WORTH_LOCK || is_in(a->hull, span->to)))
		pick_note(a, (struct pick){.note = span->to, .worth = worth});
}

/* The hull grows by each lock that is held at some of the steps but not at all: such a one is no section of it. */
static void grow_hull(struct actor *a, const struct held_span *span)
{
	bool all = span_holds(span, a->steps.from) && span_holds(span, a->steps.to) && a->number == 0;

	if (all || !is_held(a, span))
		return;
	if (span->from < a->hull.from)
		a->hull.from = span->from;
	if (span->to > a->hull.to)
		a->hull.to = span->to;
}

/* False if none of its steps is known. */
static bool range_of(struct actor *a)
{
	bool any = false;

	for (size_t i = 0; i < a->s->steps; i++) {
		const struct step *p = &a->s->step[i];

		if (p->actor != a->number || !p->known)
			continue;
		if (!any || p->note < a->steps.from)
			a->steps.from = p->note;
		if (!any || p->note > a->steps.to)
			a->steps.to = p->note;
		a->thread = p->access->thread;
		any = true;
	}
	a->hull = a->steps;
	return any;
}

static void pick_unknown(struct surroundings *s, size_t actor)
{
	for (size_t i = 0; i < s->steps; i++)
		if (s->step[i].actor == actor && !s->step[i].known)
			add_pick(s, (struct pick){.actor = actor, .step = &s->step[i], .worth = WORTH_PATH});
}

static void pick_actor(struct surroundings *s, size_t number)
{
	struct actor a = {.s = s, .number = number};

	pick_unknown(s, number);
	if (!range_of(&a))
		return;
	a.diary = diary_of(&s->run->diaries, run_line(s->run, a.thread));
	held_spans_read(&s->spans, s->run->arena, a.diary);
	for (size_t i = 0; i < s->spans.count; i++)
		grow_hull(&a, &s->spans.at[i]);
	pick_around(&a);
	for (size_t i = 0; i < s->spans.count; i++)
		pick_span(&a, &s->spans.at[i]);
}

/* The choice. */

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static uint64_t pick_seq(const struct pick *p)
{
	return p->diary ? diary_note(p->diary, p->note)->seq : p->step->access->seq;
}

static int by_worth(const void *left, const void *right)
{
	const struct pick *a = left, *b = right;

	if (a->worth != b->worth)
		return compare(a->worth, b->worth);
	return a->distance != b->distance ? compare(a->distance, b->distance) : compare(a->note, b->note);
}

static int by_thread(const void *left, const void *right)
{
	const struct pick *a = left, *b = right;

	if (a->actor != b->actor)
		return compare(a->actor, b->actor);
	if (pick_seq(a) != pick_seq(b))
		return compare(pick_seq(a), pick_seq(b));
	return compare(a->note, b->note);
}

static void choose(struct surroundings *s)
{
	size_t most = s->steps > MOMENTS_MOST ? s->steps : MOMENTS_MOST;

	if (s->picks > most) {
		qsort(s->pick, s->picks, sizeof *s->pick, by_worth);
		s->picks = most;
	}
	qsort(s->pick, s->picks, sizeof *s->pick, by_thread);
}

/* The rows. */

/* Events between the two notes that are neither's. */
static uint32_t events_between(const struct diary *d, uint64_t from, uint64_t to)
{
	uint64_t last = diary_note(d, from)->seq;
	uint32_t n = 0;

	for (uint64_t i = from + 1; i < to; i++) {
		uint64_t seq = diary_note(d, i)->seq;

		n += seq != last && seq != diary_note(d, to)->seq;
		last = seq;
	}
	return n;
}

/* What the note tells; a variable is called what the path calls it. */
static struct access noted(const struct pick *p, thread_id t)
{
	const struct note *n = diary_note(p->diary, p->note);
	struct access a = {.kind = n->kind, .flags = n->flags, .thread = t, .object = n->object, .site = n->site,
		.stack = n->stack, .seq = n->seq};
	enum { NAMING = EVENT_ADDRESSED | EVENT_SIZED };

	if (!p->like)
		return a;
	a.object = p->like->access->object;
	a.size = p->like->access->size;
	a.value = n->value;
	a.flags = (uint8_t)((n->flags & ~NAMING) | (p->like->access->flags & NAMING));
	return a;
}

/* A check may not have kept the value of what it tells. */
static struct access told(const struct pick *p)
{
	const struct note *n = p->diary ? diary_note(p->diary, p->note) : NULL;
	struct access a = *p->step->access;

	if (n && n->flags & EVENT_VALUED && event_is_access(n->kind)) {
		a.value = n->value;
		a.flags |= n->flags & (EVENT_VALUED | EVENT_UNSIGNED);
	}
	return a;
}

static thread_id thread_of(const struct surroundings *s, size_t actor)
{
	size_t i = 0;

	while (s->step[i].actor != actor)
		i++;
	return s->step[i].access->thread;
}

static struct moment moment_of(const struct surroundings *s, const struct pick *p)
{
	struct moment m = {.access = p->step ? told(p) : noted(p, thread_of(s, p->actor)), .until = p->until};
	const struct pick *before = p > s->pick ? p - 1 : NULL;

	if (p->step) {
		m.role = (uint8_t)p->step->role;
		m.ends = p->step->ends && !p->step->access->kind;
	}
	if (before && before->actor == p->actor && before->diary && p->diary)
		m.skipped = events_between(p->diary, before->note, p->note);
	return m;
}

void surroundings_look(struct surroundings *s, size_t i)
{
	const struct finding *f = &s->run->findings->at[i];

	take_steps(s, f);
	s->picks = 0;
	for (size_t k = 0; k < s->actors; k++)
		pick_actor(s, k);
	choose(s);
	for (size_t k = 0; k < s->picks; k++) {
		s->moment = arena_reserve(s->run->arena, s->moment, &s->moment_capacity, k, sizeof *s->moment);
		s->moment[k] = moment_of(s, &s->pick[k]);
	}
	moments_order(s->moment, s->picks, f);
	findings_surround(s->run->findings, i, s->moment, s->picks);
}
