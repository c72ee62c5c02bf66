/* SPDX-License-Identifier: MIT */
#include "diary.h"

#include <string.h>

#include "base/arena.h"

void diaries_init(struct diaries *d, struct arena *a, void *self,
	size_t (*variables)(void *self, const struct note *n, uint64_t x[DIARY_VARIABLES]))
{
	d->arena = a;
	d->self = self;
	d->variables = variables;
	seg_init(&d->line, a, sizeof(struct diary));
}

/* Until it is full, note i is at[i], so growing keeps every note in its place. */
void diary_grow(struct diary *d, struct arena *a)
{
	size_t capacity = d->capacity ? 2 * d->capacity : DIARY_LEAST;

	d->at = arena_grow(a, d->at, d->capacity * sizeof *d->at, capacity * sizeof *d->at);
	d->capacity = capacity;
}

void diary_know(struct diary *d, struct arena *a)
{
	d->known = arena_alloc(a, DIARY_KNOWN * sizeof *d->known);
}

/* Whether everything that is remembered is younger, and something is forgotten: there is no place for it. */
static bool is_too_old(const struct diary *d, uint64_t seq)
{
	return d->count > d->capacity && seq < diary_note(d, diary_first(d))->seq;
}

static void settle(struct diaries *s, struct diary *d);

/* What is too old now stays so: the oldest note only gets younger. Most that comes late is. */
void diary_insert(struct diaries *s, const struct event *e)
{
	struct diary *d = diary_of(s, e->line);

	if (is_too_old(d, e->seq))
		return;
	if (!d->late)
		d->late = arena_alloc(s->arena, DIARY_LATE * sizeof *d->late);
	if (d->lates == DIARY_LATE)
		settle(s, d);
	d->late[d->lates++] = note_of(e);
}

/*
 * The late ones in their order: by seq, and those of one seq as they came. A key is the seq with the number of the note
 * below it, so notes need not be moved.
 */
struct order {
	uint64_t key[DIARY_LATE];
	const struct note *late;
	size_t count;
};

static const struct note *late_at(const struct order *o, size_t i)
{
	return &o->late[o->key[i] % DIARY_LATE];
}

/* Two runs of keys, each in order, become one. */
static void merge_runs(uint64_t *to, const uint64_t *from, size_t middle, size_t n)
{
	size_t a = 0, b = middle;

	for (size_t i = 0; i < n; i++) {
		bool first = b == n || (a < middle && from[a] < from[b]);

		to[i] = first ? from[a++] : from[b++];
	}
}

/* Few are late, but those come from long ago in no order. */
static void sort_late(struct order *o)
{
	uint64_t room[DIARY_LATE];

	for (size_t run = 1; run < o->count; run *= 2) {
		for (size_t i = 0; i < o->count; i += 2 * run) {
			size_t n = o->count - i < 2 * run ? o->count - i : 2 * run;

			merge_runs(room + i, o->key + i, run < n ? run : n, n);
		}
		memcpy(o->key, room, o->count * sizeof *room);
	}
}

static void order_late(const struct diary *d, struct order *o)
{
	bool sorted = true;

	o->late = d->late;
	o->count = d->lates;
	for (size_t i = 0; i < d->lates; i++) {
		o->key[i] = d->late[i].seq * DIARY_LATE + i;
		sorted = sorted && (!i || o->key[i - 1] < o->key[i]);
	}
	if (!sorted)
		sort_late(o);
}

/* What is older than everything that is remembered has no place. */
static size_t forget_late(const struct diary *d, const struct order *o)
{
	bool whole = !diary_first(d);
	uint64_t oldest = d->count ? diary_note(d, diary_first(d))->seq : 0;
	size_t gone = 0;

	while (!whole && gone < o->count && late_at(o, gone)->seq < oldest)
		gone++;
	return gone;
}

/* Where note i was before the oldest ones were kept aside, `lost` of them. */
static const struct note *note_before(const struct diaries *s, const struct diary *d, uint64_t i, uint64_t lost)
{
	return i - diary_first(d) < lost ? &s->scratch[i - diary_first(d)] : diary_note(d, i);
}

/*
 * Both in their order, a late one behind those that have its seq. From the youngest on, until none is late any more:
 * what is older stays where it is. New places are those of the oldest, which are forgotten; until then they are kept
 * aside.
 */
static void merge(const struct diaries *s, struct diary *d, const struct order *o, size_t gone)
{
	uint64_t from = d->count, to = from + d->lates - gone, first = diary_first(d);
	uint64_t least = to > d->capacity ? to - d->capacity : 0, lost = least > first ? least - first : 0;
	size_t late = d->lates;

	for (uint64_t i = 0; i < lost; i++)
		s->scratch[i] = *diary_note(d, first + i);
	while (late > gone && to > least) {
		const struct note *n = from > first ? note_before(s, d, from - 1, lost) : NULL;
		const struct note *l = late_at(o, late - 1);
		bool stays = n && n->seq > l->seq;

		d->at[--to & (d->capacity - 1)] = *(stays ? n : l);
		from -= stays;
		late -= !stays;
	}
}

/* Variables. */

static bool has_address(const struct note *n)
{
	return n->flags & EVENT_KNOWN && event_is_access(n->kind);
}

/* The note gets its variable. Where there are several, each has a note: those but the first come as late ones do. */
static void name(struct diaries *s, struct diary *d, struct note *n)
{
	uint64_t x[DIARY_VARIABLES];
	size_t count;

	if (!has_address(n))
		return;
	count = s->variables(s->self, n, x);
	n->flags &= (uint8_t)~EVENT_KNOWN;
	for (size_t i = 0; i < count; i++) {
		n->object = x[i];
		if (i)
			d->late[d->lates++] = *n;
	}
	n->object = x[0];
}

/* From the oldest on, as long as there is room for late ones. */
static void name_some(struct diaries *s, struct diary *d)
{
	uint64_t i = d->named > diary_first(d) ? d->named : diary_first(d);

	if (!d->late)
		d->late = arena_alloc(s->arena, DIARY_LATE * sizeof *d->late);
	for (; i < d->count && d->lates + DIARY_VARIABLES <= DIARY_LATE; i++)
		name(s, d, &d->at[i & (d->capacity - 1)]);
	d->named = i;
}

/* Late ones in their places. */

/* Whether they say the same; the one that is in the diary already may not have its variable yet. */
static bool is_same(struct diaries *s, const struct note *n, const struct note *late)
{
	uint64_t x[DIARY_VARIABLES];

	if (n->kind != late->kind || n->site != late->site)
		return false;
	return has_address(n) ? s->variables(s->self, n, x) == 1 && *x == late->object : n->object == late->object;
}

static bool is_noted(struct diaries *s, const struct diary *d, const struct note *late)
{
	bool whole;
	uint64_t i, end;

	if (*diary_known(d, late->seq) != late->seq)
		return false;
	i = diary_since(d, late->seq, &whole);
	end = d->count - i < DIARY_ALIKE ? d->count : i + DIARY_ALIKE;
	for (; i < end && diary_note(d, i)->seq == late->seq; i++)
		if (is_same(s, diary_note(d, i), late))
			return true;
	return false;
}

/* What was noted before it was told. */
static void drop_noted(struct diaries *s, struct diary *d)
{
	size_t kept = 0;

	if (!d->known)
		return;
	for (size_t i = 0; i < d->lates; i++)
		if (!is_noted(s, d, &d->late[i]))
			d->late[kept++] = d->late[i];
	d->lates = kept;
}

static void settle(struct diaries *s, struct diary *d)
{
	struct order o;
	size_t gone;

	if (!s->scratch)
		s->scratch = arena_alloc(s->arena, DIARY_LATE * sizeof *s->scratch);
	drop_noted(s, d);
	order_late(d, &o);
	gone = forget_late(d, &o);
	while (d->capacity < DIARY_MOST && d->count + d->lates - gone > d->capacity)
		diary_grow(d, s->arena);
	merge(s, d, &o, gone);
	d->count += d->lates - gone;
	d->lates = 0;
}

/* What has its variable stays before what has not: so it is asked for once, however often there is no more room. */
void diary_settle(struct diaries *s, struct diary *d)
{
	if (d->lates)
		settle(s, d);
	while (d->named < d->count) {
		name_some(s, d);
		if (d->lates)
			settle(s, d);
	}
}

uint64_t diary_since(const struct diary *d, uint64_t seq, bool *whole)
{
	uint64_t first = diary_first(d), low = first, high = d->count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (diary_note(d, middle)->seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	*whole = first == 0 || low > first;
	return low;
}
