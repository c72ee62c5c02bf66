/* SPDX-License-Identifier: MIT */
/*
 * What each line did last: its latest accesses and synchronisations, so that a finding can be looked at in its
 * surroundings (what else the block did between its two ends, what the culprit's section did) after the fact.
 *
 * Of a live run, whose accesses may be told late (EVENT_PAST in check/run.h), notes are in the order of their seq. What is
 * noted before it is told (EVENT_KNOWN) is not noted twice: it is looked for among the first DIARY_ALIKE notes of its seq,
 * if that is one of the last ones of such notes. So a few are there twice; whoever reads takes notes of one seq together.
 *
 * Most of what is noted nobody ever reads. So an access of which the diary alone hears is noted with its address and
 * size, and EVENT_KNOWN; which variable that is, or which several, is asked for by diary_read().
 *
 * Representation: a ring a line that grows to DIARY_MOST notes and then forgets its oldest. Notes are in the order
 * of the trace. An access to several variables is several notes with one seq.
 * Cost: one store an event. Failure: what is asked for may be forgotten; diary_since() says so.
 */
#ifndef FISSION_STATE_DIARY_H
#define FISSION_STATE_DIARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/seg.h"
#include "event/event.h"

enum { DIARY_MOST = 1024, DIARY_LEAST = 64, DIARY_LATE = 256, DIARY_VARIABLES = 64,
	DIARY_KNOWN = 1024, DIARY_ALIKE = 32 }; /* powers of two */

struct note {
	uint64_t seq;
	uint64_t object; /* a variable, or the id of a lock, condition, barrier, semaphore, thread */
	uint64_t value;  /* of an access, with EVENT_VALUED; of a wait, its mutex */
	site_id site;
	stack_id stack;
	uint32_t size;
	uint8_t kind, flags;
};

struct diary {
	struct note *at;
	uint64_t count; /* notes ever written; note i is at[i % capacity] */
	size_t capacity;
	struct note *late; /* those that came late and have not been put in their places yet; at most DIARY_LATE */
	size_t lates;
	uint64_t named; /* note i has its variable for all i less than this */
	uint64_t *known; /* the seqs of those that were noted with their addresses, by hash; NULL: there was none */
};

struct diaries {
	struct arena *arena;
	struct seg line; /* struct diary by line */
	struct note *scratch;
	void *self;
	size_t (*variables)(void *self, const struct note *n, uint64_t x[DIARY_VARIABLES]);
};

/*
 * `variables` says which ones an access has touched that was noted with its address: how many, 1 at least. NULL: no access
 * is noted so.
 */
void diaries_init(struct diaries *d, struct arena *a, void *self,
	size_t (*variables)(void *self, const struct note *n, uint64_t x[DIARY_VARIABLES]));

static inline struct diary *diary_of(struct diaries *d, uint32_t line)
{
	return seg_at(&d->line, line, sizeof(struct diary));
}

/* Slow path of diary_put: room for one more. */
__attribute__((cold, noinline)) void diary_grow(struct diary *d, struct arena *a);

static inline struct note note_of(const struct event *e)
{
	return (struct note){
		.seq = e->seq, .object = e->object, .value = e->value, .site = e->site, .stack = e->stack,
		.size = e->size, .kind = e->kind, .flags = e->flags,
	};
}

/* By the line's diary, for whoever has that at hand: it stays where it is. */
static inline __attribute__((always_inline)) void diary_put(struct diaries *s, struct diary *d, const struct event *e)
{
	struct note *n;

	if (__builtin_expect(d->count == d->capacity && d->capacity < DIARY_MOST, 0))
		diary_grow(d, s->arena);
	n = &d->at[d->count++ & (d->capacity - 1)];
	n->seq = e->seq;
	n->object = e->object;
	n->value = e->value;
	n->site = e->site;
	n->stack = e->stack;
	n->size = e->size;
	n->kind = e->kind;
	n->flags = e->flags;
}

static inline uint64_t *diary_known(const struct diary *d, uint64_t seq)
{
	return &d->known[seq * 0x9e3779b97f4a7c15u >> 32 & (DIARY_KNOWN - 1)];
}

/* Slow path of diary_put_known: room for the first. */
__attribute__((cold, noinline)) void diary_know(struct diary *d, struct arena *a);

/* The same for an access with its address, of which only the diary hears. */
static inline __attribute__((always_inline)) void diary_put_known(struct diaries *s, struct diary *d,
	const struct event *e)
{
	if (__builtin_expect(!d->known, 0))
		diary_know(d, s->arena);
	*diary_known(d, e->seq) = e->seq;
	diary_put(s, d, e);
}

static inline void diary_write(struct diaries *s, const struct event *e)
{
	diary_put(s, diary_of(s, e->line), e);
}

/* The same for an access that comes late: at its place, unless that is too far back, from diary_settle() on. */
void diary_insert(struct diaries *s, const struct event *e);

/* Puts what came late in its place, and asks for variables: before anybody reads. Numbers of notes change. */
void diary_settle(struct diaries *s, struct diary *d);

/* The line's diary, to be read. */
static inline struct diary *diary_read(struct diaries *s, uint32_t line)
{
	struct diary *d = diary_of(s, line);

	if (d->lates || d->named < d->count)
		diary_settle(s, d);
	return d;
}

/* Note i, which must be one that diary_first() to count - 1 has. */
static inline const struct note *diary_note(const struct diary *d, uint64_t i)
{
	return &d->at[i & (d->capacity - 1)];
}

/* The oldest note that is still there. */
static inline uint64_t diary_first(const struct diary *d)
{
	return d->count > d->capacity ? d->count - d->capacity : 0;
}

/* The first note that is not before `seq`; `*whole` says that nothing from there on is forgotten. */
uint64_t diary_since(const struct diary *d, uint64_t seq, bool *whole);

#endif
