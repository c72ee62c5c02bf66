/* SPDX-License-Identifier: MIT */
/*
 * What is kept of each variable, where many variables are alike: those that were always touched together, or one after the
 * other by the same place at the same time, have one record.
 *
 * Representation: a word a variable: it has nothing, a record of its own at its own place, or the number of one that it
 * shares. Memory is made when it is touched, so places of variables that share cost nothing where they are many in a row.
 * A shared record never changes, but by whoever has just made it. A *step* remembers what became of a record by which
 * deed: the next variable that has the same record, and to which the same is done, goes to the same one.
 * Invariant: `users` of a shared record is the number of variables and ends of steps that have it; at 0 it is given back.
 * Where the word says that there is nothing, the variable's own place is all zero.
 * Cost: a comparison more for a record of a variable's own; 4 bytes a variable beside its share of the records.
 * Failure: none but the arena's.
 */
#ifndef FISSION_STATE_SHARES_H
#define FISSION_STATE_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/seg.h"

enum { SHARES_STEP_BITS = 8, SHARES_STEPS = 1 << SHARES_STEP_BITS, SHARE_KEY = 5 };

/* What a variable's word says; any other is the number of a shared record. Of those, SHARES_NOTHING is the empty one. */
enum { SHARES_NOTHING, SHARES_OWN };

/* What is done to a record: whatever decides what becomes of it. */
struct share_deed {
	uint64_t key[SHARE_KEY];
};

struct share_step {
	uint32_t from, to; /* to 0: none */
	struct share_deed deed;
};

/* What the owner does to its records. Both sides of copy() are whole records; `to` is all zero before it. */
struct shares_owner {
	void *self;
	void (*copy)(void *self, void *to, const void *from);
	void (*drop)(void *self, void *record); /* makes it all zero, and gives back what it has beside itself */
};

struct shares {
	struct arena *arena;
	size_t element;
	struct shares_owner by;
	struct seg of;     /* uint32_t by variable */
	struct seg own;    /* records by variable */
	struct seg record; /* records by number */
	struct seg users;  /* uint32_t likewise */
	uint32_t count;    /* the highest number so far */
	uint32_t freed;    /* the first of those that nobody has; each begins with the next */
	struct share_step step[SHARES_STEPS][2]; /* by what they are about; the one asked for last is first */
};

void shares_init(struct shares *s, struct arena *a, size_t element, struct shares_owner by);

/* Slow path of shares_own. */
__attribute__((noinline)) void shares_part(struct shares *s, uint64_t x);

static inline uint32_t *shares_word(struct shares *s, uint64_t x)
{
	return seg_at(&s->of, x, sizeof(uint32_t));
}

static inline bool shares_is_own(struct shares *s, uint64_t x)
{
	return *shares_word(s, x) == SHARES_OWN;
}

/* A record of the variable's own, to be changed. `element` is the size given to shares_init, as in seg.h. */
static inline void *shares_own(struct shares *s, uint64_t x, size_t element)
{
	if (__builtin_expect(!shares_is_own(s, x), 0))
		shares_part(s, x);
	return seg_at(&s->own, x, element);
}

/* What the variable shares. */
static inline const void *shares_look(struct shares *s, uint64_t x)
{
	return seg_at(&s->record, *shares_word(s, x), s->element);
}

/*
 * The variable, whose record is not its own, has the deed done to it. Returns what is to be changed by it, before anything
 * else is asked for; NULL: that was done for another variable already, whose record it now has.
 */
void *shares_become(struct shares *s, uint64_t x, const struct share_deed *deed);

/* What shares_become has just returned is to be the variable's own. */
void shares_claim(struct shares *s, uint64_t x);

/* Variable y, of which there is nothing, becomes as x; nothing is left of x. */
void shares_split(struct shares *s, uint64_t x, uint64_t y);
void shares_forget(struct shares *s, uint64_t x);

/* The variable's own record is about to be changed, if it has one. */
static inline __attribute__((always_inline)) void shares_fetch(const struct shares *s, uint64_t x, size_t element)
{
	__builtin_prefetch(seg_hint(&s->of, x, sizeof(uint32_t)));
	__builtin_prefetch(seg_hint(&s->own, x, element), 1);
}

#endif
