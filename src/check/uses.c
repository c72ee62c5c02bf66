/* SPDX-License-Identifier: MIT */
#include "uses.h"

#include <stdlib.h>

#include "base/arena.h"
#include "check/check.h"
#include "check/scene.h"
#include "policy/rank.h"
#include "state/diary.h"

enum { OBJECT_BYTES = 4096, LEAST_POINTER = 4096 };

static const uint64_t NEVER = UINT64_MAX;

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

static void all_uses(struct uses_scratch *f, const struct scene *c)
{
	struct arena *a = c->run->arena;

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

static bool loses_update(const struct uses_scratch *f)
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

static void add_load(struct uses_scratch *f, struct arena *a, const struct note *n, uint64_t i)
{
	const struct use *again = use_of(&f->second, n->object);
	struct loads *l = &f->loads;

	l->at = arena_reserve(a, l->at, &l->capacity, l->count, sizeof *l->at);
	l->at[l->count++] = (struct load){n->value, i, again ? again->read : NEVER, writes(&f->theirs, n->object)};
}

static void read_loads(struct uses_scratch *f, struct arena *a, const struct side *s)
{
	f->loads.count = 0;
	for (uint64_t i = s->section.from; i <= s->section.to; i++)
		if (is_load(diary_note(s->diary, i)))
			add_load(f, a, diary_note(s->diary, i), i);
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

static bool holds(const struct held_spans *spans, sync_id lock, uint64_t note)
{
	for (size_t i = 0; i < spans->count; i++)
		if (spans->at[i].lock == lock && span_holds(&spans->at[i], note))
			return true;
	return false;
}

/*
 * The thread itself has put there what it loads, without the section's lock: nobody else changes that, and it is no
 * older than what it was made from. So does std::lock_guard, which keeps the address of the mutex.
 */
static bool is_own(const struct side *s, uint64_t note)
{
	const struct note *load = diary_note(s->diary, note);
	uint64_t oldest = diary_first(s->diary);

	for (uint64_t i = note; s->outer && i-- > oldest;) {
		const struct note *n = diary_note(s->diary, i);

		if (event_is_access(n->kind) && !event_is_read(n->kind) && n->object == load->object)
			return n->flags & EVENT_VALUED && n->value == load->value && !holds(s->spans, s->outer->lock, i);
	}
	return false;
}

/* The note accesses an object to which a pointer was loaded, which was not loaded again. */
static bool uses_stale(const struct loads *l, const struct scene *c, const struct note *n, uint64_t i)
{
	struct access a = {.flags = n->flags};
	uint64_t from;

	if (!(n->flags & EVENT_ADDRESSED))
		return false;
	run_address(c->run, n->object, &a);
	from = a.object < LEAST_POINTER + OBJECT_BYTES ? LEAST_POINTER : a.object - OBJECT_BYTES + 1;
	for (size_t k = loads_below(l, from); k < l->count && l->at[k].value <= a.object; k++)
		if (i < l->at[k].again && !is_own(&c->first, l->at[k].note))
			return true;
	return false;
}

static uint32_t stale_facts(struct uses_scratch *f, const struct scene *c)
{
	uint32_t facts = 0;

	read_loads(f, c->run->arena, &c->first);
	if (!f->loads.count)
		return 0;
	for (uint64_t i = c->second.section.from; i <= c->second.section.to; i++) {
		const struct note *n = diary_note(c->second.diary, i);

		if (!event_is_access(n->kind))
			continue;
		if (writes_stale(&f->loads, n, i))
			facts |= FACT_VALUE;
		if (uses_stale(&f->loads, c, n, i))
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
	return only_adds(&c->first, scene_window(c), x, lock);
}

static bool takes(const struct side *s, sync_id lock)
{
	for (size_t i = 0; i < s->spans->count; i++) {
		const struct held_span *span = &s->spans->at[i];

		if (span->lock == lock && span->begun && !span->shared && span->from >= s->section.from &&
			span_holds(span, s->note))
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

		if (span_holds(&spans->at[i], c->first.note) && takes(&c->first, lock) && takes(&c->second, lock) &&
			takes(&c->theirs[0], lock) && takes(&c->theirs[c->culprits - 1], lock))
			return lock;
	}
	return 0;
}

/* Whether the culprits' use of a variable conflicts with the sections', or with anything in the window. */

static bool meets_sections(const struct uses_scratch *f, const struct use *u)
{
	return conflict(u, use_of(&f->first, u->x)) || conflict(u, use_of(&f->second, u->x));
}

static bool meets_window(const struct scene *c, const struct use *u)
{
	struct range r = scene_window(c);

	for (uint64_t i = r.from; i <= r.to; i++) {
		const struct note *n = diary_note(c->first.diary, i);

		if (event_is_access(n->kind) && n->object == u->x && (u->write != NEVER || !event_is_read(n->kind)))
			return true;
	}
	return false;
}

/* Whether everything on which the culprits and the block meet is only added to, and there is something. */
static bool commutes(const struct uses_scratch *f, const struct scene *c)
{
	const struct uses *theirs = &f->theirs;
	sync_id lock = common_lock(c);
	bool any = false;

	for (size_t i = 0; i < theirs->count; i++) {
		bool meets = meets_sections(f, &theirs->at[i]);

		any |= meets;
		if (meets && !is_added_to(c, theirs->at[i].x, lock))
			return false;
	}
	for (size_t i = 0; any && i < theirs->count; i++)
		if (meets_window(c, &theirs->at[i]) && !is_added_to(c, theirs->at[i].x, lock))
			return false;
	return any;
}

uint32_t uses_growing(struct uses_scratch *f, const struct scene *c)
{
	uint32_t facts = 0;

	if (!c->run->accesses || !c->first.whole || c->f->links < 2)
		return 0;
	all_uses(f, c);
	if (loses_update(f))
		facts |= FACT_UPDATE;
	if (!c->alone && conflicts(&f->first, &f->theirs) && conflicts(&f->theirs, &f->second))
		facts |= FACT_DATA;
	return facts | stale_facts(f, c);
}

/* Sections without any access are not known to do nothing: their code may not be instrumented. */
static bool is_apart(const struct uses_scratch *f, uint32_t facts)
{
	return !(facts & FACT_DATA) && f->first.count && f->theirs.count && f->second.count;
}

/* What belongs together. */

/* Whether the section writes anything that the culprits use. */
static bool changes(const struct uses *u, const struct uses *theirs)
{
	for (size_t i = 0; i < u->count; i++)
		if (u->at[i].write != NEVER && use_of(theirs, u->at[i].x))
			return true;
	return false;
}

/* Whether a variable that the culprits write is in both sections. */
static bool is_read_twice(const struct uses_scratch *f)
{
	for (size_t i = 0; i < f->first.count; i++)
		if (writes(&f->theirs, f->first.at[i].x) && use_of(&f->second, f->first.at[i].x))
			return true;
	return false;
}

/* Whether the culprits meet the block's sections in two of their own, each under a lock, and not in one. */
static bool is_changed_by_parts(struct uses_scratch *f, const struct scene *c)
{
	if (c->culprits < 2 || !c->theirs[0].outer || !c->theirs[1].outer)
		return false;
	for (size_t i = 0; i < c->culprits; i++) {
		uses_of(&f->lone, c->run->arena, &c->theirs[i], c->theirs[i].section);
		if (conflicts(&f->first, &f->lone) && conflicts(&f->lone, &f->second))
			return false;
	}
	return true;
}

/* Whether each end holds a lock, and they have none in common. Of ends without a lock nothing is known. */
static bool has_two_guards(const struct scene *c)
{
	const struct held_spans *spans = c->first.spans;

	if (!c->first.outer || !c->second.outer)
		return false;
	for (size_t i = 0; i < spans->count; i++)
		if (span_holds(&spans->at[i], c->first.note) && holds(spans, spans->at[i].lock, c->second.note))
			return false;
	return true;
}

/*
 * The block has read one variable, and then another, of two states of memory. It takes a mistake to combine them only
 * if they belong together; the program says that they do not by guarding them differently, or by changing them in
 * sections of their own. What is written is another matter: whoever looks in between sees half of it.
 */
static bool is_scattered(struct uses_scratch *f, const struct scene *c)
{
	if (changes(&f->first, &f->theirs) || changes(&f->second, &f->theirs) || is_read_twice(f))
		return false;
	return has_two_guards(c) || is_changed_by_parts(f, c);
}

uint32_t uses_whole(struct uses_scratch *f, const struct scene *c, uint32_t facts)
{
	if (!c->run->accesses || !c->first.whole || c->alone)
		return 0;
	if (facts & FACT_DATA && is_scattered(f, c))
		return FACT_SCATTERED;
	return (is_apart(f, facts) ? FACT_APART : 0) | (commutes(f, c) ? FACT_COMMUTES : 0);
}
