/* SPDX-License-Identifier: MIT */
#include "record.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"

void records_init(struct records *s, struct arena *a)
{
	*s = (struct records){.arena = a};
	seg_init(&s->atom, a, sizeof(struct atom));
	seg_init(&s->record, a, sizeof(struct record));
	map_init(&s->by_atom, a);
	map_init(&s->by_content, a);
}

/* Atoms. */

static inline bool same_atom(const struct atom *a, const struct atom *b)
{
	return a->object == b->object && a->site == b->site && a->stack == b->stack && a->kind == b->kind &&
	       a->flags == b->flags;
}

static inline uint64_t atom_hash(const struct atom *a)
{
	return hash_pair(a->object ^ (uint64_t)a->kind << 56 ^ (uint64_t)a->flags << 48,
		(uint64_t)a->stack << 32 | a->site);
}

static uint32_t atom_add(struct records *s, const struct atom *a, uint64_t key)
{
	uint32_t *id;

	while (*(id = map_put(&s->by_atom, key)) && !same_atom(atom_at(s, *id), a))
		key = hash_word(key + 1);
	if (!*id) {
		*id = ++s->atoms;
		*(struct atom *)seg_at(&s->atom, *id, sizeof *a) = *a;
	}
	return *id;
}

/* Recording. */

void recording_begin(struct records *s, struct recording *r, const struct event *e)
{
	if (!r->recent)
		r->recent = arena_alloc(s->arena, RECORD_RECENT * sizeof *r->recent);
	r->count = r->period = r->matched = 0;
	r->begin = e->seq;
	r->thread = e->thread;
	r->first_span = ++r->span;
}

/* The entry of the atom, new if another atom or another record had its slot. */
static inline struct recent *recent_of(struct records *s, struct recording *r, const struct atom *a)
{
	uint64_t key = atom_hash(a);
	struct recent *n = &r->recent[key % RECORD_RECENT];

	if (!same_atom(&n->atom, a)) {
		n->atom = *a;
		n->id = atom_add(s, a, key);
		n->span = 0;
	}
	if (n->span < r->first_span)
		n->position = UINT32_MAX;
	if (n->span != r->span)
		n->times = 0;
	n->span = r->span;
	return n;
}

/* Whether the last items close what they open, and nothing else. */
static bool is_round(struct records *s, const struct recording *r, size_t length)
{
	size_t depth = 0;

	for (size_t i = r->count - length; i < r->count; i++) {
		const struct atom *a = atom_at(s, r->item[i].atom);

		if (a->kind == ATOM_OPEN)
			depth++;
		if (a->kind == ATOM_CLOSE && (a->object || depth-- == 0))
			return false;
	}
	return depth == 0;
}

/*
 * Keeps track of the distance at which the items repeat. Where it does not fit, the next try is the distance to the
 * last item like this one: within a loop it grows until it is the length of a round. A third round is taken back.
 */
static inline void notice_loop(struct records *s, struct recording *r, uint32_t before)
{
	size_t now = r->count - 1;
	uint32_t atom = r->item[now].atom;

	if (r->period && r->item[now - r->period].atom == atom) {
		r->matched++;
	} else {
		r->period = before < now && r->item[before].atom == atom && now - before <= RECORD_PERIOD ? now - before : 0;
		r->matched = 1;
	}
	if (r->period && r->matched >= 2 * r->period && is_round(s, r, r->period)) {
		r->count -= r->period;
		r->matched -= r->period;
	}
}

bool recording_add(struct records *s, struct recording *r, const struct atom *a, uint64_t seq, bool access)
{
	uint64_t after = seq - r->begin;
	struct recent *n;
	uint32_t before;

	if (!access)
		r->span++;
	n = recent_of(s, r, a);
	if (access && n->times == 2)
		return true;
	if (r->count == RECORD_MOST || after > UINT32_MAX)
		return false;
	n->times++;
	before = n->position;
	n->position = (uint32_t)r->count;
	r->item = arena_reserve(s->arena, r->item, &r->capacity, r->count, sizeof *r->item);
	r->item[r->count++] = (struct item){n->id, (uint32_t)after};
	notice_loop(s, r, before);
	return true;
}

/* Keeping. */

static uint64_t content_hash(const struct recording *r, bool cut_off)
{
	uint64_t h = hash_pair(r->count, cut_off);

	for (size_t i = 0; i < r->count; i++)
		h = hash_pair(h, r->item[i].atom);
	return h;
}

static bool same_content(const struct record *kept, const struct recording *r, bool cut_off)
{
	if (kept->count != r->count || kept->cut_off != cut_off)
		return false;
	for (size_t i = 0; i < r->count; i++)
		if (kept->item[i].atom != r->item[i].atom)
			return false;
	return true;
}

/* Room for the items of a record, cut from larger pieces. */
static struct item *room(struct records *s, size_t count)
{
	struct item *at = s->room;

	if (count > s->room_left) {
		s->room_left = RECORD_MOST;
		at = arena_alloc(s->arena, s->room_left * sizeof *at);
	}
	s->room = at + count;
	s->room_left -= count;
	return at;
}

static void keep(struct records *s, const struct recording *r, bool cut_off)
{
	struct item *copy = room(s, r->count);

	memcpy(copy, r->item, r->count * sizeof *copy);
	*(struct record *)seg_at(&s->record, ++s->records, sizeof(struct record)) = (struct record){
		copy, (uint32_t)r->count, cut_off, r->thread, r->begin, 1,
	};
}

void recording_end(struct records *s, struct recording *r, bool cut_off)
{
	uint64_t key = content_hash(r, cut_off);
	uint32_t *number;

	while (*(number = map_put(&s->by_content, key)) && !same_content(record_at(s, *number), r, cut_off))
		key = hash_word(key + 1);
	if (*number) {
		((struct record *)record_at(s, *number))->times++;
		return;
	}
	*number = s->records + 1;
	keep(s, r, cut_off);
}
