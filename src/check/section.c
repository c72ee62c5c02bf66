/* SPDX-License-Identifier: MIT */
#include "section.h"

#include "base/arena.h"
#include "base/hash.h"
#include "check/check.h"

/* What a stretch did to one object. Twice as many as two diaries can have. */
enum { USES = 4 * DIARY_MOST };

struct section_use {
	uint64_t key;
	uint32_t round;
	const struct note *read, *write;         /* of the first stretch */
	const struct note *read_after, *written; /* of the second one */
	uint64_t latest;                         /* seq of the last use */
};

/* The notes of a stretch, oldest first. */
struct notes {
	const struct diary *diary;
	uint64_t next, to;
	bool whole; /* nothing is forgotten */
};

void sections_init(struct sections *s, struct run *run)
{
	*s = (struct sections){.run = run};
	seg_init(&s->open, run->arena, sizeof(struct section_list));
	seg_init(&s->busy, run->arena, sizeof(bool));
	seg_init(&s->changed, run->arena, sizeof(uint32_t));
}

void section_enter_slowly(struct sections *s, uint32_t line)
{
	struct section_list *l = sections_of(s, line);

	if (l->count)
		sections_busy(s, line);
	l->at = arena_reserve(s->run->arena, l->at, &l->capacity, l->count, sizeof *l->at);
}

struct mark section_leave_slowly(struct section_list *l, uint64_t lock)
{
	size_t i = l->count;
	struct mark acquire;

	while (i && l->at[i - 1].lock != lock)
		i--;
	if (!i)
		return (struct mark){0}; /* a lenient run lets a lock go that was never taken */
	acquire = l->at[i - 1].acquire;
	l->count--;
	for (i--; i < l->count; i++)
		l->at[i] = l->at[i + 1];
	return acquire;
}

void sections_busy(struct sections *s, uint32_t line)
{
	const struct section_list *l = sections_of(s, line);

	for (size_t i = 0; i < l->count; i++)
		*(bool *)seg_at(&s->busy, l->at[i].lock, sizeof(bool)) = true;
}

void sections_change(struct sections *s, uint64_t x)
{
	*(uint32_t *)seg_at(&s->changed, x, sizeof(uint32_t)) = ++s->changes;
}

static bool has_changed(struct sections *s, uint64_t x, uint32_t since)
{
	return s->changes > since && *(uint32_t *)seg_at(&s->changed, x, sizeof(uint32_t)) > since;
}

static struct notes notes_of(struct sections *s, struct stretch t)
{
	struct notes n = {.diary = diary_read(&s->run->diaries, t.line), .to = t.to ? t.to : UINT64_MAX};

	n.next = diary_since(n.diary, t.from, &n.whole);
	return n;
}

static const struct note *notes_next(struct notes *n)
{
	const struct note *note = n->next < n->diary->count ? diary_note(n->diary, n->next) : NULL;

	if (!note || note->seq >= n->to)
		return NULL;
	n->next++;
	return note;
}

static bool is_acquire(uint8_t kind)
{
	return kind == EVENT_ACQUIRE || kind == EVENT_ACQUIRE_SHARED;
}

static bool is_release(uint8_t kind)
{
	return kind == EVENT_RELEASE || kind == EVENT_RELEASE_SHARED;
}

static bool reads(uint8_t kind)
{
	return event_is_read(kind) || kind == EVENT_ATOMIC_RMW;
}

static bool writes(uint8_t kind)
{
	return event_is_access(kind) && !event_is_read(kind);
}

static bool waits(uint8_t kind)
{
	return kind == EVENT_JOIN || kind == EVENT_BARRIER || kind == EVENT_SEM_WAIT || kind == EVENT_WAIT;
}

struct stretch section_of(struct sections *s, uint32_t line, uint64_t lock, uint64_t from)
{
	struct stretch t = {.line = line, .from = from};
	struct notes n = notes_of(s, t);

	for (const struct note *note; (note = notes_next(&n));)
		if (is_release(note->kind) && note->object == lock) {
			t.to = note->seq;
			break;
		}
	return t;
}

/* The scratch table. */

static void uses_clear(struct sections *s)
{
	if (!s->use)
		s->use = arena_alloc(s->run->arena, USES * sizeof *s->use);
	s->round++;
}

/* Locks and variables have numbers of their own. */
static uint64_t key_of(const struct note *n)
{
	return n->object << 1 | !event_is_access(n->kind);
}

/* The entry of the key, or the free one that it would have. */
static struct section_use *use_slot(struct sections *s, uint64_t key)
{
	uint64_t i = hash_word(key) % USES;

	while (s->use[i].round == s->round && s->use[i].key != key)
		i = (i + 1) % USES;
	return &s->use[i];
}

static struct section_use *use_find(struct sections *s, uint64_t key)
{
	struct section_use *u = use_slot(s, key);

	return u->round == s->round ? u : NULL;
}

static struct section_use *use_put(struct sections *s, uint64_t key)
{
	struct section_use *u = use_slot(s, key);

	if (u->round != s->round)
		*u = (struct section_use){.key = key, .round = s->round};
	return u;
}

/* Data behind a window. */

static void gather(struct sections *s, struct stretch t, uint32_t changes, bool second)
{
	struct notes notes = notes_of(s, t);

	for (const struct note *n; (n = notes_next(&notes));) {
		struct section_use *u;

		if (!event_is_access(n->kind) || has_changed(s, n->object, changes))
			continue;
		u = use_put(s, key_of(n));
		if (writes(n->kind))
			*(second ? &u->written : &u->write) = n;
		if (reads(n->kind))
			*(second ? &u->read_after : &u->read) = n;
	}
}

/* What the culprit's access c conflicts with: a read by preference, because a lost or stale value shows there. */
static const struct note *conflict(const struct note *c, const struct note *read, const struct note *write)
{
	return writes(c->kind) && read ? read : write;
}

/* Three writes can be told from a serial run by the order of conflicts only: anything else is better. */
static bool shows(const struct witness *w)
{
	return reads(w->first.kind) || reads(w->in.kind) || reads(w->second.kind);
}

struct search {
	struct witness *found;
	const struct note *first, *in; /* where a path of two variables starts */
	bool any;
};

/* One access of the culprit; whether nothing better can be found. */
static bool look_at(struct search *s, const struct section_use *u, const struct note *c)
{
	const struct note *a = conflict(c, u->read, u->write), *b = conflict(c, u->read_after, u->written);
	bool both = a && b;

	if (a && !s->first) {
		s->first = a;
		s->in = c;
	}
	if (both || (b && s->first && !s->any)) {
		*s->found = (struct witness){both ? *a : *s->first, both ? *c : *s->in, *c, *b};
		s->any = true;
	}
	return both && shows(s->found);
}

bool section_witness(struct sections *s, const struct section_window *w, struct witness *found)
{
	struct notes culprit = notes_of(s, w->culprit);
	struct search search = {.found = found};

	uses_clear(s);
	gather(s, w->first, w->changes, false);
	gather(s, w->second, w->changes, true);
	for (const struct note *c; (c = notes_next(&culprit));) {
		const struct section_use *u = event_is_access(c->kind) ? use_find(s, key_of(c)) : NULL;

		if (u && look_at(&search, u, c))
			return true;
	}
	return search.any;
}

/* Elsewhere. */

/* An atomic may be what a thread spins on. */
static bool may_hang(struct sections *s, const struct note *n)
{
	if (is_acquire(n->kind))
		return n->flags & EVENT_WAITED || !section_is_leaf(s, n->object);
	return waits(n->kind) || (reads(n->kind) && n->kind != EVENT_READ);
}

bool section_returns(struct sections *s, struct stretch t, bool *nested)
{
	struct notes notes = notes_of(s, t);
	const struct note *n = notes_next(&notes); /* the section's own acquire */

	*nested = false;
	if (!notes.whole || !n || !t.to)
		return false;
	while ((n = notes_next(&notes))) {
		if (may_hang(s, n))
			return false;
		*nested |= is_acquire(n->kind);
	}
	return true;
}

/*
 * Puts into the table what the stretch has learned of others by: its reads, and the locks it took that are no leaves.
 * A leaf teaches nothing beyond the data under it. False if it has waited for somebody, or if nobody knows.
 */
static bool gather_lessons(struct sections *s, struct stretch t, uint32_t changes)
{
	struct notes notes = notes_of(s, t);
	const struct note *n = notes_next(&notes); /* the acquire that it starts with */

	if (!notes.whole || !n)
		return false;
	while ((n = notes_next(&notes))) {
		bool reads_it = reads(n->kind), takes = is_acquire(n->kind) && !section_is_leaf(s, n->object);

		if (waits(n->kind) || (reads_it && has_changed(s, n->object, changes)))
			return false;
		if (reads_it || takes)
			use_put(s, key_of(n))->latest = n->seq;
	}
	return true;
}

/* Whether the line did something in the stretch that a later lesson could come from. */
static bool has_taught(struct sections *s, struct stretch t)
{
	struct notes notes = notes_of(s, t);

	if (!notes.whole)
		return true;
	for (const struct note *n; (n = notes_next(&notes));) {
		const struct section_use *u = writes(n->kind) || is_release(n->kind) ? use_find(s, key_of(n)) : NULL;

		if (u && n->seq < u->latest)
			return true;
	}
	return false;
}

bool section_stands_alone(struct sections *s, struct stretch t, uint64_t since, uint32_t changes)
{
	uses_clear(s);
	if (!gather_lessons(s, t, changes))
		return false;
	for (uint32_t u = 1; u <= s->run->lines; u++)
		if (u != t.line && has_taught(s, (struct stretch){u, since, t.to}))
			return false;
	return true;
}
