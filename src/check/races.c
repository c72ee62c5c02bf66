/* SPDX-License-Identifier: MIT */
/*
 * races: which variables have two conflicting accesses that nothing orders?
 *
 * Reported, as a hazard and not as a finding, is the first race of each variable: its later access is the first one of
 * the run that is not ordered after every earlier access that it conflicts with. The order is C11's happens-before as
 * this run had it (state/clocks.h), so a run without a race has none in any schedule with the same synchronisation.
 * Two atomic accesses never race; an atomic and a plain one do. What the policy calls guarded is taken at its word.
 *
 * FastTrack (Flanagan and Freund, PLDI 2009): [READ SAME EPOCH], [READ EXCLUSIVE], [READ SHARE], [READ SHARED], [WRITE
 * SAME EPOCH], [WRITE EXCLUSIVE], [WRITE SHARED]. Departures: atomics are kept beside the plain accesses, all that
 * are not known to be before a later write; each epoch comes with the place of its access; and a variable that has
 * raced is not looked at again, but for the last access to it.
 *
 * State, by variable: `write` is W, `read` is R while that is an epoch, `readers` while it is a vector; `atomics`, which
 * most variables never get, has those. W and R are the first accesses of their epochs. Variables that have the same past
 * share it (state/shares.h), unless they have raced.
 *
 * Everything belongs to the run and is touched by its handlers only.
 *
 * Cost: constant, a cache line a variable; a write after several readers is linear in those.
 */
#include "check/check.h"

#include <string.h>

#include "base/arena.h"
#include "check/path.h"
#include "state/last.h"
#include "state/shares.h"

/* An access: an epoch, and what is needed to show it. */
struct spot {
	uint64_t at; /* seq and line, as in a mark; 0 for none */
	clock_time time;
	site_id site;
	stack_id stack;
	thread_id thread;
};

/* The last access of each line: an open-addressed table keyed by line, at most half full. */
struct spots {
	struct spot *at;
	uint32_t count, capacity;
};

struct atomics {
	struct spots loads, stores;
};

enum { SPOTS_LEAST = 4 };

#define MANY UINT64_MAX

struct past {
	_Alignas(64) struct spot write;
	union { /* since the last write */
		struct spot read;
		struct {
			uint64_t many; /* MANY: there are several */
			struct spots readers;
		};
	};
	struct atomics *atomics;
	struct hazard *hazard; /* it has raced */
};

_Static_assert(sizeof(struct past) == 64, "one cache line");

struct races {
	struct run *run;
	struct arena *arena;
	struct clocks *clocks;
	struct shares past; /* struct past by variable */
};

static inline uint32_t line_of(const struct spot *s)
{
	return (uint32_t)(s->at & MARK_LINE_MOST);
}

static inline struct epoch epoch_of(const struct spot *s)
{
	return (struct epoch){line_of(s), s->time};
}

static inline bool is_before(const struct spot *s, const struct vclock *now)
{
	return epoch_within(epoch_of(s), now);
}

static inline struct spot spot_of(const struct event *e, clock_time time)
{
	return (struct spot){e->seq << MARK_LINE_BITS | e->line, time, e->site, e->stack, e->thread};
}

/* Tables. */

/* Where the line's access is or would be; lines are dense, so they are their own hash. */
static struct spot *spots_find(const struct spots *s, uint32_t line)
{
	uint32_t i = line & (s->capacity - 1);

	while (s->at[i].at && line_of(&s->at[i]) != line)
		i = (i + 1) & (s->capacity - 1);
	return &s->at[i];
}

static void spots_drop(struct spots *s, struct arena *a)
{
	arena_recycle(a, s->at, s->capacity * sizeof *s->at);
	*s = (struct spots){0};
}

/* A small table stays: what is used as an atomic will be so again. */
static void spots_empty(struct spots *s, struct arena *a)
{
	if (s->capacity > SPOTS_LEAST) {
		spots_drop(s, a);
	} else if (s->count) {
		memset(s->at, 0, SPOTS_LEAST * sizeof *s->at);
		s->count = 0;
	}
}

static void spots_move(struct spots *to, const struct spots *from)
{
	for (uint32_t i = 0; i < from->capacity; i++)
		if (from->at[i].at)
			*spots_find(to, line_of(&from->at[i])) = from->at[i];
}

static struct spots spots_copy(const struct spots *from, uint32_t capacity, struct arena *a)
{
	struct spots to = {NULL, from->count, capacity};

	if (capacity)
		to.at = arena_alloc(a, capacity * sizeof *to.at);
	spots_move(&to, from);
	return to;
}

static void spots_put(struct spots *s, struct arena *a, struct spot spot)
{
	struct spot *to = s->capacity ? spots_find(s, line_of(&spot)) : NULL;

	if (to && to->at) {
		*to = spot;
		return;
	}
	if (2 * s->count >= s->capacity) {
		struct spots larger = spots_copy(s, s->capacity ? 2 * s->capacity : SPOTS_LEAST, a);

		spots_drop(s, a);
		*s = larger;
		to = spots_find(s, line_of(&spot));
	}
	s->count++;
	*to = spot;
}

/* Races. */

static struct past *past_of(struct races *r, uint64_t x)
{
	return shares_own(&r->past, x, sizeof(struct past));
}

static struct atomics *atomics_of(struct races *r, struct past *x)
{
	if (!x->atomics)
		x->atomics = arena_alloc(r->arena, sizeof *x->atomics);
	return x->atomics;
}

static __attribute__((cold, noinline)) void race(struct races *r, struct past *x, struct mark earlier, const struct event *e)
{
	struct mark later = mark_of(e);
	struct access at[] = {
		path_access(r->run, &earlier, e->object),
		path_access(r->run, &later, e->object),
	};

	x->hazard = findings_hazard(r->run->findings,
		&(struct hazard){HAZARD_RACE, at, 2, at[0].seq, e->seq, 0});
}

/* One access of the past against one that happens now, at the clock `now`. */
struct meeting {
	struct past *x;
	const struct event *e;
	const struct vclock *now;
};

/* Whether the earlier access is known, even if only to what an atomic will have read. */
static inline bool is_ordered(struct races *r, const struct meeting *m, const struct spot *s)
{
	if (is_before(s, m->now))
		return true;
	return m->e->kind >= EVENT_ATOMIC_LOAD && clocks_reads(r->clocks, m->e, epoch_of(s));
}

/* Whether e races with the access, which has the kind. */
static inline __attribute__((always_inline)) bool races_with(struct races *r, const struct meeting *m,
	const struct spot *s, enum event_kind kind)
{
	if (__builtin_expect(is_ordered(r, m, s), 1))
		return false;
	race(r, m->x, (struct mark){.at = s->at, .site = s->site, .stack = s->stack, .thread = s->thread,
		.kind = (uint8_t)kind}, m->e);
	return true;
}

static bool races_with_any(struct races *r, const struct meeting *m, const struct spots *s, enum event_kind kind)
{
	for (uint32_t i = 0; i < s->capacity; i++)
		if (s->at[i].at && races_with(r, m, &s->at[i], kind))
			return true;
	return false;
}

static bool races_with_reads(struct races *r, const struct meeting *m)
{
	if (m->x->read.at == MANY)
		return races_with_any(r, m, &m->x->readers, EVENT_READ);
	return races_with(r, m, &m->x->read, EVENT_READ);
}

/* Reads. */

/* [READ SHARE] and [READ SHARED]. */
static void share(struct races *r, struct past *x, struct spot spot)
{
	struct spot first = x->read;

	if (first.at != MANY) {
		x->many = MANY;
		x->readers = (struct spots){0};
		spots_put(&x->readers, r->arena, first);
	}
	spots_put(&x->readers, r->arena, spot);
}

static inline __attribute__((always_inline)) void read_now(struct races *r, const struct meeting *m, clock_time time)
{
	struct past *x = m->x;

	if (x->read.at == MANY && spots_find(&x->readers, m->e->line)->time == time)
		return;
	if (races_with(r, m, &x->write, EVENT_WRITE))
		return;
	if (x->atomics && races_with_any(r, m, &x->atomics->stores, EVENT_ATOMIC_STORE))
		return;
	if (x->read.at != MANY && is_before(&x->read, m->now))
		x->read = spot_of(m->e, time); /* [READ EXCLUSIVE] */
	else
		share(r, x, spot_of(m->e, time));
}

/* Writes. */

static __attribute__((noinline)) void clear_atomics(struct races *r, struct atomics *a)
{
	spots_empty(&a->loads, r->arena);
	spots_empty(&a->stores, r->arena);
}

/* All that came before is before the write: whoever is after the write is after that too. */
static inline void clear(struct races *r, struct past *x)
{
	if (x->read.at == MANY)
		spots_drop(&x->readers, r->arena);
	x->read = (struct spot){0};
	if (__builtin_expect(x->atomics != NULL, 0))
		clear_atomics(r, x->atomics);
}

/* [WRITE EXCLUSIVE] and [WRITE SHARED]. */
static inline __attribute__((always_inline)) void write_now(struct races *r, const struct meeting *m, clock_time time)
{
	struct past *x = m->x;

	if (races_with(r, m, &x->write, EVENT_WRITE) || races_with_reads(r, m))
		return;
	if (x->atomics && (races_with_any(r, m, &x->atomics->stores, EVENT_ATOMIC_STORE) ||
				  races_with_any(r, m, &x->atomics->loads, EVENT_ATOMIC_LOAD)))
		return;
	clear(r, x);
	x->write = spot_of(m->e, time);
}

static void atomic_now(struct races *r, const struct meeting *m, clock_time time)
{
	bool loads = m->e->kind == EVENT_ATOMIC_LOAD;
	struct atomics *atomics = atomics_of(r, m->x);

	if (races_with(r, m, &m->x->write, EVENT_WRITE) || (!loads && races_with_reads(r, m)))
		return;
	spots_put(loads ? &atomics->loads : &atomics->stores, r->arena, spot_of(m->e, time));
}

/* Not of several readers: their time is none. */
static inline bool is_same_epoch(const struct spot *s, const struct event *e, clock_time time)
{
	return s->time == time && line_of(s) == e->line && s->at != MANY;
}

static inline __attribute__((always_inline)) void access_now(struct races *r, struct past *x, const struct event *e)
{
	struct meeting m = {x, e, r->run->now[CLOCKS_C11]};
	clock_time time = m.now->at[e->line];

	if (__builtin_expect(x->hazard != NULL, 0))
		x->hazard->until = e->seq;
	else if (e->kind == EVENT_READ && !is_same_epoch(&x->read, e, time))
		read_now(r, &m, time);
	else if (e->kind == EVENT_WRITE && !is_same_epoch(&x->write, e, time))
		write_now(r, &m, time);
	else if (e->kind != EVENT_READ && e->kind != EVENT_WRITE)
		atomic_now(r, &m, time);
}

/*
 * What becomes of a variable's past: that depends on the past itself, on the access, and on what the line has seen,
 * which does not change within one number of it. Of atomics it depends on the variable too.
 */
static struct share_deed deed_of(const struct event *e, clock_time time, bool late)
{
	return (struct share_deed){{e->seq << MARK_LINE_BITS | e->line, time, (uint64_t)e->site << 32 | e->stack, e->thread,
		(uint64_t)e->kind << 1 | late}};
}

static inline bool is_apart(struct races *r, const struct event *e)
{
	return shares_is_own(&r->past, e->object) || !r->run->several || (e->kind != EVENT_READ && e->kind != EVENT_WRITE);
}

/* A race is told of each variable that has it, so one that has raced is on its own. */
static __attribute__((noinline)) void access_alike(struct races *r, const struct event *e)
{
	struct share_deed deed = deed_of(e, r->run->now[CLOCKS_C11]->at[e->line], false);
	struct past *x = shares_become(&r->past, e->object, &deed);

	if (!x)
		return;
	access_now(r, x, e);
	if (x->hazard)
		shares_claim(&r->past, e->object);
}

static void races_access(void *self, const struct event *e)
{
	struct races *r = self;

	if (e->assumed & ASSUMED_GUARDED)
		return;
	if (__builtin_expect(is_apart(r, e), 1))
		access_now(r, past_of(r, e->object), e);
	else
		access_alike(r, e);
}

/* It has met nobody, so there is nothing to compare it with; later accesses are compared with it. */
static inline __attribute__((always_inline)) void past_now(struct races *r, struct past *x,
	const struct event *e, clock_time time)
{
	struct spot spot = spot_of(e, time);

	if (x->hazard || (line_of(&x->write) == e->line && x->write.at >= spot.at))
		return;
	if (e->kind == EVENT_WRITE) {
		clear(r, x);
		x->write = spot;
	} else if (x->read.at == MANY || (x->read.at && line_of(&x->read) != e->line)) {
		share(r, x, spot);
	} else if (x->read.at < spot.at) {
		x->read = spot;
	}
}

static void races_past(void *self, const struct event *e)
{
	struct races *r = self;
	clock_time time = run_time_at(r->run, e->line, e->seq);
	struct share_deed deed;
	struct past *x;

	if (is_apart(r, e)) {
		past_now(r, past_of(r, e->object), e, time);
		return;
	}
	deed = deed_of(e, time, true);
	x = shares_become(&r->past, e->object, &deed);
	if (x)
		past_now(r, x, e, time);
}

static void races_fetch(void *self, uint64_t x)
{
	const struct races *r = self;

	shares_fetch(&r->past, x, sizeof(struct past));
}

static void races_fetch_rest(void *self, uint64_t x)
{
	const struct races *r = self;
	const struct past *of = seg_hint(&r->past.own, x, sizeof *of);

	if (of && of->read.at == MANY)
		for (uint32_t i = 0; i < SPOTS_LEAST * sizeof(struct spot); i += 64)
			__builtin_prefetch((const char *)of->readers.at + i, 1);
}

static void past_copy(void *self, void *record, const void *of)
{
	struct races *r = self;
	const struct past *from = of;
	struct past *to = record;
	const struct atomics *atomics = from->atomics;

	*to = *from;
	if (from->read.at == MANY)
		to->readers = spots_copy(&from->readers, from->readers.capacity, r->arena);
	if (!atomics)
		return;
	to->atomics = arena_alloc(r->arena, sizeof *to->atomics);
	to->atomics->loads = spots_copy(&atomics->loads, atomics->loads.capacity, r->arena);
	to->atomics->stores = spots_copy(&atomics->stores, atomics->stores.capacity, r->arena);
}

static void past_drop(void *self, void *record)
{
	struct races *r = self;
	struct past *gone = record;

	if (gone->read.at == MANY)
		spots_drop(&gone->readers, r->arena);
	if (gone->atomics) {
		spots_drop(&gone->atomics->loads, r->arena);
		spots_drop(&gone->atomics->stores, r->arena);
		arena_recycle(r->arena, gone->atomics, sizeof *gone->atomics);
	}
	*gone = (struct past){0};
}

static void races_split(void *self, uint64_t x, uint64_t y)
{
	struct races *r = self;

	shares_split(&r->past, x, y);
}

static void races_forget(void *self, uint64_t x)
{
	struct races *r = self;

	shares_forget(&r->past, x);
}

static void *races_start(struct run *run)
{
	struct races *r = arena_alloc(run->arena, sizeof *r);

	r->run = run;
	r->arena = run->arena;
	r->clocks = &run->clocks[CLOCKS_C11];
	shares_init(&r->past, run->arena, sizeof(struct past), (struct shares_owner){r, past_copy, past_drop});
	run->findings->looked[HAZARD_RACE] = true;
	return r;
}

const struct check check_races = {
	.name = "races",
	.summary = "accesses that nothing orders: what keeps predictions from being certain",
	.needs = NEED_C11,
	.start = races_start,
	.on = {[ON_ACCESS] = races_access},
	.past = races_past,
	.fetch = races_fetch,
	.fetch_rest = races_fetch_rest,
	.split = races_split,
	.forget = races_forget,
};
