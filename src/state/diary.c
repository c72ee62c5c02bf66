/* SPDX-License-Identifier: MIT */
#include "diary.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"

void diaries_init(struct diaries *d, struct arena *a)
{
	d->arena = a;
	seg_init(&d->line, a, sizeof(struct diary));
}

/* Until it is full, note i is at[i], so growing keeps every note in its place. */
void diary_grow(struct diary *d, struct arena *a)
{
	size_t capacity = d->capacity ? 2 * d->capacity : DIARY_LEAST;

	d->at = arena_grow(a, d->at, d->capacity * sizeof *d->at, capacity * sizeof *d->at);
	d->capacity = capacity;
}

/* Whether everything that is remembered is younger, and something is forgotten: there is no place for it. */
static bool is_too_old(const struct diary *d, uint64_t seq)
{
	return d->count > d->capacity && seq < diary_note(d, diary_first(d))->seq;
}

static struct known *known_of(const struct diary *d, const struct event *e)
{
	return &d->known[hash_pair(e->seq, e->object) % DIARY_KNOWN];
}

void diary_put_known(struct diaries *s, struct diary *d, const struct event *e)
{
	if (!d->known)
		d->known = arena_alloc(s->arena, DIARY_KNOWN * sizeof *d->known);
	*known_of(d, e) = (struct known){e->seq, e->object, e->site, e->kind};
	diary_put(s, d, e);
}

static bool is_known(const struct diary *d, const struct event *e)
{
	const struct known *k = d->known ? known_of(d, e) : NULL;

	return k && k->seq == e->seq && k->object == e->object && k->site == e->site && k->kind == e->kind;
}

/* What is too old now stays so: the oldest note only gets younger. Most that comes late is. */
void diary_insert(struct diaries *s, const struct event *e)
{
	struct diary *d = diary_of(s, e->line);

	if (is_too_old(d, e->seq) || is_known(d, e))
		return;
	if (!d->late)
		d->late = arena_alloc(s->arena, DIARY_LATE * sizeof *d->late);
	if (d->lates == DIARY_LATE)
		diary_settle(s, d);
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

void diary_settle(struct diaries *s, struct diary *d)
{
	struct order o;
	size_t gone;

	if (!s->scratch)
		s->scratch = arena_alloc(s->arena, DIARY_LATE * sizeof *s->scratch);
	order_late(d, &o);
	gone = forget_late(d, &o);
	while (d->capacity < DIARY_MOST && d->count + d->lates - gone > d->capacity)
		diary_grow(d, s->arena);
	merge(s, d, &o, gone);
	d->count += d->lates - gone;
	d->lates = 0;
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
