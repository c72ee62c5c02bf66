/* SPDX-License-Identifier: MIT */
#include "facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "check/check.h"
#include "finding/window.h"
#include "policy/policy.h"
#include "policy/rank.h"
#include "state/diary.h"

enum { OBJECT_BYTES = 4096, LEAST_POINTER = 4096, WAITERS_MOST = 64 };

static const uint64_t NEVER = UINT64_MAX;

/* Notes `from` to `to` of a diary; none if from > to. */
struct range {
	uint64_t from, to;
};

/* A finding that waits for the release of a lock, or for the end of its block. */
struct waiter {
	uint32_t finding;
	uint64_t second; /* of the path: a finding that has another path by now waits elsewhere */
	uint64_t begin;  /* of the block, if the line is the block's own */
	sync_id lock;
};

struct waiting {
	struct waiter *at;
	size_t count, capacity;
};

/* One end of the window, or a culprit, in its surroundings. */
struct side {
	uint32_t line;
	const struct diary *diary;
	const struct held_spans *spans;
	uint64_t note;               /* its own */
	struct range section;
	const struct held_span *outer; /* the lock whose span the section begins with, or NULL */
	sync_id running;             /* a lock that is still held: the section is not over */
	bool whole;                  /* the section is remembered from its beginning */
};

/* One finding being looked at. */
struct scene {
	struct facts *facts;
	const struct finding *f;
	struct side first, second, theirs[2];
	size_t culprits;  /* of theirs: one if first and last are in one section */
	bool alone;       /* the culprits are not known */
};

void facts_init(struct facts *f, struct run *run, const struct policy *policy)
{
	*f = (struct facts){.run = run, .policy = policy};
	seg_init(&f->line, run->arena, sizeof(struct waiting));
}

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

static void read_spans(struct held_spans *s, struct arena *a, const struct diary *d)
{
	s->count = 0;
	for (uint64_t i = diary_first(d); i < d->count; i++)
		read_note(s, a, d, i);
}

static bool holds(const struct held_span *s, uint64_t note)
{
	return s->from <= note && note <= s->to;
}

/* Sides. */

/* The note of the operation; false if it is forgotten. The end of a wait has the number of the event behind it. */
static bool find_note(const struct diary *d, const struct access *a, uint64_t *note)
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

static bool side_find(struct side *s, struct facts *f, const struct access *a, size_t scratch)
{
	if (!a->kind || !a->thread)
		return false;
	s->line = run_line(f->run, a->thread);
	s->diary = diary_of(&f->run->diaries, s->line);
	s->spans = &f->spans[scratch];
	return find_note(s->diary, a, &s->note);
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

		if (holds(s, first->note) && s->to < second->note)
			side_add(first, s);
		if (holds(s, second->note) && s->from > first->note)
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
		if (holds(&s->spans->at[i], s->note))
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

static struct access access_of(struct facts *f, const struct note *n, thread_id t)
{
	struct access a = {.kind = n->kind, .flags = n->flags, .thread = t, .object = n->object, .site = n->site,
		.stack = n->stack, .seq = n->seq};

	if (event_is_access(n->kind)) {
		run_variable(f->run, n->object, &a);
		a.value = n->value;
	}
	return a;
}

/* The culprit's last operation, or the acquire of the lock that it gives back with it: what the first end is before. */
static bool find_culprit(struct scene *c, struct side *s)
{
	if (!side_find(s, c->facts, &c->f->path[c->f->links - 1].from, 1))
		return false;
	if (event_is_access(diary_note(s->diary, s->note)->kind))
		return true;
	read_spans(&c->facts->spans[1], c->facts->run->arena, s->diary);
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

static bool is_all_data(const struct finding *f)
{
	for (size_t i = 0; i < f->links; i++)
		if (!f->path[i].data)
			return false;
	return true;
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

	if (last->from.seq >= last->to.seq || run_has_new_lives(c->facts->run) || !find_culprit(c, &s))
		return;
	note = last_before(c, diary_note(s.diary, s.note));
	link.from = access_of(c->facts, diary_note(c->first.diary, note), f->block.thread);
	link.to = access_of(c->facts, diary_note(s.diary, s.note), last->from.thread);
	link.data = event_is_access(link.to.kind);
	if (note == c->first.note || is_all_data(f) != (link.data && last->data))
		return;
	c->first.note = note;
	findings_tighten(c->facts->run->findings, i, &link);
}

static bool own_sides(struct scene *c, size_t i)
{
	struct facts *f = c->facts;

	if (!side_find(&c->first, f, &c->f->path[0].from, 0) ||
		!side_find(&c->second, f, &c->f->path[c->f->links - 1].to, 0) || c->first.note >= c->second.note)
		return false;
	tighten(c, i);
	read_spans(&f->spans[0], f->run->arena, c->first.diary);
	own_sections(c);
	return true;
}

static bool their_side(struct scene *c, size_t i, const struct access *a)
{
	struct facts *f = c->facts;

	if (!side_find(&c->theirs[i], f, a, i + 1))
		return false;
	read_spans(&f->spans[i + 1], f->run->arena, c->theirs[i].diary);
	their_section(&c->theirs[i]);
	return c->theirs[i].whole;
}

/* The first culprit's section and, if it is another one, the last one's. */
static void their_sides(struct scene *c)
{
	const struct finding *f = c->f;
	const struct side *one = &c->theirs[0], *other = &c->theirs[1];

	c->alone = !c->facts->run->accesses || !their_side(c, 0, &f->path[0].to) ||
		!their_side(c, 1, &f->path[f->links - 1].from);
	if (c->alone)
		return;
	c->culprits = one->line == other->line && one->section.from == other->section.from &&
		one->section.to == other->section.to ? 1 : 2;
}

/* What sections do to variables. */

static void add_uses(struct uses *u, struct arena *a, const struct side *s, struct range r)
{
	for (uint64_t i = r.from; i <= r.to && i < s->diary->count; i++) {
		const struct note *n = diary_note(s->diary, i);

		if (!event_is_access(n->kind))
			continue;
		u->at = arena_reserve(a, u->at, &u->capacity, u->count, sizeof *u->at);
		u->at[u->count++] = (struct use){n->object,
			event_is_read(n->kind) || n->kind == EVENT_ATOMIC_RMW ? i : NEVER, event_is_read(n->kind) ? NEVER : i};
	}
}

static int by_variable(const void *left, const void *right)
{
	const struct use *a = left, *b = right;

	return a->x < b->x ? -1 : a->x > b->x;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* One entry a variable, in order. */
static void fold_uses(struct uses *u)
{
	size_t kept = 0;

	if (u->count)
		qsort(u->at, u->count, sizeof *u->at, by_variable);
	for (size_t i = 0; i < u->count; i++) {
		if (!kept || u->at[kept - 1].x != u->at[i].x) {
			u->at[kept++] = u->at[i];
			continue;
		}
		u->at[kept - 1].read = least(u->at[kept - 1].read, u->at[i].read);
		u->at[kept - 1].write = least(u->at[kept - 1].write, u->at[i].write);
	}
	u->count = kept;
}

static void uses_of(struct uses *u, struct arena *a, const struct side *s, struct range r)
{
	u->count = 0;
	add_uses(u, a, s, r);
	fold_uses(u);
}

static struct range window_of(const struct scene *c)
{
	return (struct range){c->first.section.from, c->second.section.to};
}

static void all_uses(struct scene *c)
{
	struct facts *f = c->facts;
	struct arena *a = f->run->arena;

	uses_of(&f->first, a, &c->first, c->first.section);
	uses_of(&f->second, a, &c->second, c->second.section);
	f->theirs.count = 0;
	for (size_t i = 0; i < c->culprits; i++)
		add_uses(&f->theirs, a, &c->theirs[i], c->theirs[i].section);
	fold_uses(&f->theirs);
}

static const struct use *use_of(const struct uses *u, uint64_t x)
{
	struct use key = {.x = x};

	return u->count ? bsearch(&key, u->at, u->count, sizeof key, by_variable) : NULL;
}

static bool writes(const struct uses *u, uint64_t x)
{
	const struct use *use = use_of(u, x);

	return use && use->write != NEVER;
}

static bool conflict(const struct use *a, const struct use *b)
{
	return a && b && (a->write != NEVER || b->write != NEVER);
}

static bool conflicts(const struct uses *a, const struct uses *b)
{
	for (size_t i = 0; i < a->count; i++)
		if (conflict(&a->at[i], use_of(b, a->at[i].x)))
			return true;
	return false;
}

/* Lost updates. */

static bool loses_update(const struct facts *f)
{
	for (size_t i = 0; i < f->first.count; i++) {
		const struct use *u = &f->first.at[i], *again = use_of(&f->second, u->x);

		if (u->read != NEVER && again && again->write < again->read && writes(&f->theirs, u->x))
			return true;
	}
	return false;
}

/* Stale values and pointers. */

static bool is_load(const struct note *n)
{
	return event_is_read(n->kind) && n->flags & EVENT_VALUED;
}

static int by_value(const void *left, const void *right)
{
	const struct load *a = left, *b = right;

	return a->value < b->value ? -1 : a->value > b->value;
}

static void add_load(struct facts *f, const struct note *n)
{
	const struct use *again = use_of(&f->second, n->object);
	struct loads *l = &f->loads;

	l->at = arena_reserve(f->run->arena, l->at, &l->capacity, l->count, sizeof *l->at);
	l->at[l->count++] = (struct load){n->value, again ? again->read : NEVER, writes(&f->theirs, n->object)};
}

static void read_loads(struct facts *f, const struct side *s)
{
	f->loads.count = 0;
	for (uint64_t i = s->section.from; i <= s->section.to; i++)
		if (is_load(diary_note(s->diary, i)))
			add_load(f, diary_note(s->diary, i));
	if (f->loads.count)
		qsort(f->loads.at, f->loads.count, sizeof *f->loads.at, by_value);
}

/* How many loads have a value below v: where v would stand. */
static size_t loads_below(const struct loads *l, uint64_t v)
{
	size_t low = 0, high = l->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (l->at[middle].value < v)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Such values are everywhere: that one was read and written says nothing. */
static bool is_common(uint64_t v)
{
	return v + 1 <= 2;
}

/* The note writes what was loaded, of a variable that has changed since and was not loaded again. */
static bool writes_stale(const struct loads *l, const struct note *n, uint64_t i)
{
	if (event_is_read(n->kind) || !(n->flags & EVENT_VALUED) || is_common(n->value))
		return false;
	for (size_t k = loads_below(l, n->value); k < l->count && l->at[k].value == n->value; k++)
		if (l->at[k].changed && i < l->at[k].again)
			return true;
	return false;
}

/* The note accesses an object to which a pointer was loaded, which was not loaded again. */
static bool uses_stale(const struct facts *f, const struct note *n, uint64_t i)
{
	struct access a = {.flags = n->flags};
	const struct loads *l = &f->loads;
	uint64_t from;

	if (!(n->flags & EVENT_ADDRESSED))
		return false;
	run_variable(f->run, n->object, &a);
	from = a.object < LEAST_POINTER + OBJECT_BYTES ? LEAST_POINTER : a.object - OBJECT_BYTES + 1;
	for (size_t k = loads_below(l, from); k < l->count && l->at[k].value <= a.object; k++)
		if (i < l->at[k].again)
			return true;
	return false;
}

static uint32_t stale_facts(struct scene *c)
{
	struct facts *f = c->facts;
	uint32_t facts = 0;

	read_loads(f, &c->first);
	if (!f->loads.count)
		return 0;
	for (uint64_t i = c->second.section.from; i <= c->second.section.to; i++) {
		const struct note *n = diary_note(c->second.diary, i);

		if (!event_is_access(n->kind))
			continue;
		if (writes_stale(&f->loads, n, i))
			facts |= FACT_VALUE;
		if (uses_stale(f, n, i))
			facts |= FACT_POINTER;
	}
	return facts;
}

/* What commutes. */

/* Where one stands in a range of notes: under the lock, and between the read and the write of an addition. */
struct adding {
	bool locked, between;
};

/* False if the note is anything but a part of an addition to x that is whole under the lock. */
static bool goes_on_adding(struct adding *a, const struct note *n, uint64_t x, sync_id lock)
{
	if (n->object == lock && (n->kind == EVENT_ACQUIRE || n->kind == EVENT_RELEASE)) {
		a->locked = n->kind == EVENT_ACQUIRE;
		return !a->between;
	}
	if (!event_is_access(n->kind) || n->object != x)
		return true;
	if (n->kind == EVENT_ATOMIC_RMW)
		return !a->between;
	if (!a->locked || (n->kind != EVENT_READ && n->kind != EVENT_WRITE) || a->between != (n->kind == EVENT_WRITE))
		return false;
	a->between = !a->between;
	return true;
}

static bool only_adds(const struct side *s, struct range r, uint64_t x, sync_id lock)
{
	struct adding a = {0};

	for (uint64_t i = r.from; i <= r.to; i++)
		if (!goes_on_adding(&a, diary_note(s->diary, i), x, lock))
			return false;
	return !a.between;
}

static bool is_added_to(const struct scene *c, uint64_t x, sync_id lock)
{
	for (size_t i = 0; i < c->culprits; i++)
		if (!only_adds(&c->theirs[i], c->theirs[i].section, x, lock))
			return false;
	return only_adds(&c->first, window_of(c), x, lock);
}

static bool takes(const struct side *s, sync_id lock)
{
	for (size_t i = 0; i < s->spans->count; i++) {
		const struct held_span *span = &s->spans->at[i];

		if (span->lock == lock && span->begun && !span->shared && span->from >= s->section.from &&
			holds(span, s->note))
			return true;
	}
	return false;
}

/* A lock that all sections take, or 0: atomic additions need none. */
static sync_id common_lock(const struct scene *c)
{
	const struct held_spans *spans = c->first.spans;

	for (size_t i = 0; i < spans->count; i++) {
		sync_id lock = spans->at[i].lock;

		if (holds(&spans->at[i], c->first.note) && takes(&c->first, lock) && takes(&c->second, lock) && takes(&c->theirs[0], lock) &&
			takes(&c->theirs[c->culprits - 1], lock))
			return lock;
	}
	return 0;
}

/* Whether the culprits' use of a variable conflicts with the sections', or with anything in the window. */

static bool meets_sections(const struct facts *f, const struct use *u)
{
	return conflict(u, use_of(&f->first, u->x)) || conflict(u, use_of(&f->second, u->x));
}

static bool meets_window(const struct scene *c, const struct use *u)
{
	struct range r = window_of(c);

	for (uint64_t i = r.from; i <= r.to; i++) {
		const struct note *n = diary_note(c->first.diary, i);

		if (event_is_access(n->kind) && n->object == u->x && (u->write != NEVER || !event_is_read(n->kind)))
			return true;
	}
	return false;
}

/* Whether everything on which the culprits and the block meet is only added to, and there is something. */
static bool commutes(const struct scene *c)
{
	const struct uses *theirs = &c->facts->theirs;
	sync_id lock = common_lock(c);
	bool any = false;

	for (size_t i = 0; i < theirs->count; i++) {
		bool meets = meets_sections(c->facts, &theirs->at[i]);

		any |= meets;
		if (meets && !is_added_to(c, theirs->at[i].x, lock))
			return false;
	}
	for (size_t i = 0; any && i < theirs->count; i++)
		if (meets_window(c, &theirs->at[i]) && !is_added_to(c, theirs->at[i].x, lock))
			return false;
	return any;
}

/* Facts about accesses. They grow as sections go on, but for those that speak of all that a section does. */

static uint32_t growing_facts(struct scene *c)
{
	struct facts *f = c->facts;
	uint32_t facts = 0;

	if (!f->run->accesses || !c->first.whole)
		return 0;
	all_uses(c);
	if (loses_update(f))
		facts |= FACT_UPDATE;
	if (!c->alone && conflicts(&f->first, &f->theirs) && conflicts(&f->theirs, &f->second))
		facts |= FACT_DATA;
	return facts | stale_facts(c);
}

/* Sections without any access are not known to do nothing: their code may not be instrumented. */
static bool is_apart(const struct facts *f, uint32_t facts)
{
	return !(facts & FACT_DATA) && f->first.count && f->theirs.count && f->second.count;
}

static uint32_t whole_facts(const struct scene *c, uint32_t facts)
{
	if (!c->facts->run->accesses || !c->first.whole || c->alone)
		return 0;
	return (is_apart(c->facts, facts) ? FACT_APART : 0) | (commutes(c) ? FACT_COMMUTES : 0);
}

/* Facts about locks and places. */

static struct window_end end_of(const struct side *s)
{
	const struct note *from = diary_note(s->diary, s->note), *to = from;

	if (s->outer && s->outer->begun) {
		from = diary_note(s->diary, s->outer->from);
		to = diary_note(s->diary, s->outer->open ? s->outer->from : s->outer->to);
	}
	return (struct window_end){from->kind, from->object, from->site, from->stack, to->stack};
}

/* Not the block's own lock, where the block is what that lock protects. */
static bool holds_another(const struct scene *c)
{
	for (size_t i = 0; i < c->first.spans->count; i++) {
		const struct held_span *s = &c->first.spans->at[i];

		if (s->begun && holds(s, c->first.note) && holds(s, c->second.note) &&
			diary_note(c->first.diary, s->from)->seq != c->f->block.seq)
			return true;
	}
	return false;
}

static bool waits(const struct scene *c)
{
	for (uint64_t i = c->first.note; i < c->second.note; i++)
		if (diary_note(c->first.diary, i)->kind == EVENT_WAIT)
			return true;
	return false;
}

static uint32_t place_facts(const struct scene *c)
{
	struct window_end first = end_of(&c->first), second = end_of(&c->second);
	uint32_t facts = window_shape(c->facts->run->tables, &c->f->block, &first, &second);

	if (c->second.outer && c->second.outer->waited)
		facts |= FACT_REACQUIRE;
	if (holds_another(c))
		facts |= FACT_OTHER_LOCK;
	if (waits(c))
		facts |= FACT_WAIT;
	return facts;
}

/* Facts about the block, and about a window of which nothing is remembered. */

static bool is_main(struct text name)
{
	return name.length == 4 && memcmp(name.at, "main", 4) == 0;
}

/* The policy leaves these out where it knows them. */
static bool is_start(struct facts *f, const struct block *b)
{
	if (!b->entered || !b->stack || tables_frame(f->run->tables, b->stack).parent)
		return false;
	return is_main(tables_name(f->run->tables, TABLE_CODE, b->code)) ||
	       run_birth(f->run, run_line(f->run, b->thread), b->seq);
}

/* By its function, or by the file that it is in. */
static bool is_foreign(struct facts *f, const struct finding *of)
{
	const struct tables *t = f->run->tables;
	struct window_end first = window_end_of(&of->path[0].from);
	site_id place = window_place(t, &of->block, &first);

	if (of->block.code && policy_code(f->policy, tables_name(t, TABLE_CODE, of->block.code)) & CODE_FOREIGN)
		return true;
	return place && policy_site(f->policy, tables_name(t, TABLE_SITE, place)) & SITE_FOREIGN;
}

static uint32_t block_facts(struct facts *f, const struct finding *of)
{
	return (is_start(f, &of->block) ? FACT_START : 0) | (is_foreign(f, of) ? FACT_FOREIGN : 0);
}

static uint32_t bare_facts(const struct facts *f, const struct finding *of)
{
	const struct access *second = &of->path[of->links - 1].to;

	return window_shape_of(f->run->tables, of) | (second->flags & EVENT_WAITED ? FACT_REACQUIRE : 0);
}

/* Waiting. */

static bool is_open(struct facts *f, uint32_t line, uint64_t begin)
{
	const struct activations *open = run_open(f->run, line);

	for (size_t i = open->depth; i-- > 0;)
		if (open->at[i].begin == begin)
			return true;
	return false;
}

/* A thread may hold a lock for ever: beyond some, findings do without what they would learn. */
static void wait_on(struct facts *f, uint32_t line, struct waiter w)
{
	struct waiting *l = seg_at(&f->line, line, sizeof *l);

	if (l->count == WAITERS_MOST)
		return;
	l->at = arena_reserve(f->run->arena, l->at, &l->capacity, l->count, sizeof w);
	l->at[l->count++] = w;
	f->waiting++;
}

/* Whether a section is running that the finding must wait for; it does so. */
static bool must_wait(struct scene *c, size_t i)
{
	struct facts *f = c->facts;
	struct waiter w = {(uint32_t)i, c->f->path[c->f->links - 1].to.seq, c->f->block.seq, c->second.running};

	if (c->second.running && is_open(f, c->second.line, c->f->block.seq)) {
		wait_on(f, c->second.line, w);
		return true;
	}
	w.begin = 0;
	for (size_t k = 0; k < c->culprits; k++)
		if (c->theirs[k].running) {
			w.lock = c->theirs[k].running;
			wait_on(f, c->theirs[k].line, w);
			return true;
		}
	return false;
}

/*
 * All that is known about finding number i now, without what speaks of all that a section does while one is running.
 * False if the window is forgotten: what was known before still holds.
 */
static bool examine(struct facts *f, size_t i, bool over)
{
	const struct finding *of = &f->run->findings->at[i];
	struct scene c = {.facts = f, .f = of};
	uint32_t facts;

	if (!own_sides(&c, i))
		return false;
	their_sides(&c);
	facts = block_facts(f, of) | place_facts(&c) | growing_facts(&c);
	if (over || !must_wait(&c, i))
		facts |= whole_facts(&c, facts);
	findings_learn(f->run->findings, i, facts);
	return true;
}

static bool wakes(struct facts *f, const struct waiter *w, const struct event *e)
{
	if (e->kind == EVENT_EXIT || e->kind == EVENT_END)
		return w->begin && !is_open(f, e->line, w->begin);
	return (e->kind == EVENT_WAIT ? e->mutex : e->object) == w->lock;
}

static bool is_current(const struct facts *f, const struct waiter *w)
{
	const struct finding *of = &f->run->findings->at[w->finding];

	return of->path[of->links - 1].to.seq == w->second;
}

/* From the last to the first, since those that have to wait again come behind. */
static void wake(struct facts *f, const struct event *e)
{
	struct waiting *l = seg_at(&f->line, e->line, sizeof *l);

	for (size_t i = l->count; i-- > 0;) {
		struct waiter w = l->at[i];

		if (!wakes(f, &w, e))
			continue;
		l->at[i] = l->at[--l->count];
		f->waiting--;
		if (is_current(f, &w))
			examine(f, w.finding, false);
	}
}

static bool ends_something(uint8_t kind)
{
	return kind == EVENT_RELEASE || kind == EVENT_RELEASE_SHARED || kind == EVENT_WAIT || kind == EVENT_EXIT ||
	       kind == EVENT_END;
}

static void take_fresh(struct facts *f, bool over)
{
	struct findings *of = f->run->findings;

	while (of->fresh_count) {
		size_t i = of->fresh[--of->fresh_count];

		if (!examine(f, i, over))
			findings_learn(of, i, of->at[i].facts | block_facts(f, &of->at[i]) | bare_facts(f, &of->at[i]));
	}
}

void facts_step(struct facts *f, const struct event *e)
{
	take_fresh(f, false);
	if (f->waiting && ends_something(e->kind))
		wake(f, e);
}

void facts_finish(struct facts *f)
{
	take_fresh(f, true);
	for (uint32_t line = 1; line <= f->run->lines; line++) {
		struct waiting *l = seg_at(&f->line, line, sizeof *l);

		while (l->count) {
			struct waiter w = l->at[--l->count];

			if (is_current(f, &w))
				examine(f, w.finding, true);
		}
	}
	f->waiting = 0;
}
