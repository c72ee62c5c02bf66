/* SPDX-License-Identifier: MIT */
#include "witness.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "event/tables.h"

enum { NOBODY = UINT32_MAX }; /* no event: the initial value */

struct witness {
	const struct whole *w;
	struct arena *arena;
	uint32_t *seen;       /* by pair of an event and one of its locations, from `first`: the event whose write it sees */
	size_t *first;        /* by event */
	uint32_t *next;       /* by event: the next of its thread; NOBODY */
	uint32_t *forked;     /* by thread_id: the event that forks it; NOBODY */
	uint32_t *head, *last; /* by thread_id: its first and its last event */
	uint32_t *round;      /* by event, an arrival: its round, numbered over all barriers */
	uint32_t *parties;    /* by round: how many arrive in the trace */
	bool *called;         /* by event, a wait: a notify came before its thread went on */
	uint64_t *initial;    /* by location: its initial value, if `known` */
	bool *known;
	int64_t *units;       /* by sync_id: what a semaphore begins with */
	uint32_t threads, syncs;
};

static bool reads(const struct event *e)
{
	return e->kind == EVENT_READ || e->kind == EVENT_ATOMIC_LOAD || e->kind == EVENT_ATOMIC_RMW;
}

static bool writes(const struct event *e)
{
	return e->kind == EVENT_WRITE || e->kind == EVENT_ATOMIC_STORE || e->kind == EVENT_ATOMIC_RMW ||
	       e->kind == EVENT_ALLOC;
}

static void *none(struct arena *a, size_t n)
{
	uint32_t *at = arena_alloc(a, (n + 1) * sizeof *at);

	memset(at, 0xff, (n + 1) * sizeof *at);
	return at;
}

/* What an event reads or writes of a location; false if it is not known. */
static bool value_of(const struct whole *w, uint32_t event, uint32_t loc, uint64_t *value)
{
	const struct event *e = &w->event[event];
	uint64_t skip, bytes;

	if (e->kind == EVENT_ALLOC || !(e->flags & EVENT_VALUED))
		return false;
	*value = e->value;
	if (!(e->flags & EVENT_ADDRESSED))
		return true;
	skip = w->edge[loc] - e->object;
	bytes = w->edge[loc + 1] - w->edge[loc];
	if (skip > 7 || bytes > 8 - skip)
		return false;
	memcpy(value, (const char *)&e->value + skip, sizeof *value - skip);
	if (bytes < 8)
		*value &= ~(uint64_t)0 >> (64 - 8 * bytes);
	return true;
}

/* ---- The trace as it was. ---- */

static void see_memory(struct witness *k, struct arena *a)
{
	const struct whole *w = k->w;
	uint32_t *last = none(a, w->locs);
	size_t n = 0;

	for (uint32_t i = 0; i < w->count; i++) {
		k->first[i] = n;
		n += w->span[i].locs;
	}
	k->seen = none(a, n);
	for (uint32_t i = 0; i < w->count; i++)
		for (uint32_t s = 0; s < w->span[i].locs; s++) {
			uint32_t x = w->span[i].loc + s;

			k->seen[k->first[i] + s] = last[x];
			if (w->event[i].kind != EVENT_ATOMIC_RMW && reads(&w->event[i]) && last[x] == NOBODY && !k->known[x])
				k->known[x] = value_of(w, i, x, &k->initial[x]);
			if (writes(&w->event[i]))
				last[x] = i;
		}
}

static void see_threads(struct witness *k)
{
	for (uint32_t i = 0; i < k->w->count; i++) {
		const struct event *e = &k->w->event[i];

		if (event_is_declaration(e->kind))
			continue;
		if (k->last[e->thread] == NOBODY)
			k->head[e->thread] = i;
		else
			k->next[k->last[e->thread]] = i;
		k->last[e->thread] = i;
		if (e->kind == EVENT_FORK)
			k->forked[e->object] = i;
	}
}

/* Rounds: as many arrivals in a row as a barrier has parties. */
static void see_barriers(struct witness *k, struct arena *a)
{
	uint32_t *now = none(a, k->syncs), rounds = 0;
	uint64_t *left = arena_alloc(a, (k->syncs + 1) * sizeof *left);

	for (uint32_t i = 0; i < k->w->count; i++) {
		const struct event *e = &k->w->event[i];

		if (e->kind != EVENT_BARRIER)
			continue;
		if (!left[e->object]) {
			left[e->object] = e->count ? e->count : 1;
			now[e->object] = rounds++;
		}
		k->round[i] = now[e->object];
		k->parties[k->round[i]]++;
		left[e->object]--;
	}
}

static void see_semaphores(struct witness *k, struct arena *a)
{
	int64_t *units = arena_alloc(a, (k->syncs + 1) * sizeof *units);

	for (uint32_t i = 0; i < k->w->count; i++) {
		const struct event *e = &k->w->event[i];

		if (e->kind == EVENT_SEM_POST)
			units[e->object]++;
		if (e->kind == EVENT_SEM_WAIT && --units[e->object] < -k->units[e->object])
			k->units[e->object] = -units[e->object];
	}
}

static void see_waits(struct witness *k, struct arena *a)
{
	uint64_t *calls = arena_alloc(a, (k->syncs + 1) * sizeof *calls);
	uint64_t *before = arena_alloc(a, (k->w->count + 1) * sizeof *before);
	uint32_t *waits = none(a, k->threads);

	for (uint32_t i = 0; i < k->w->count; i++) {
		const struct event *e = &k->w->event[i];
		uint32_t wait = waits[e->thread];

		if (wait != NOBODY && !event_is_declaration(e->kind)) {
			k->called[wait] = calls[k->w->event[wait].object] > before[wait];
			waits[e->thread] = NOBODY;
		}
		if (e->kind == EVENT_NOTIFY || e->kind == EVENT_NOTIFY_ALL)
			calls[e->object]++;
		if (e->kind == EVENT_WAIT) {
			before[i] = calls[e->object];
			waits[e->thread] = i;
		}
	}
}

struct witness *witness_new(struct arena *a, const struct whole *w)
{
	struct witness *k = arena_alloc(a, sizeof *k);

	*k = (struct witness){.w = w, .arena = a, .threads = w->tables->names[TABLE_THREAD].count,
		.syncs = w->tables->names[TABLE_SYNC].count};
	k->first = arena_alloc(a, (w->count + 1) * sizeof *k->first);
	k->next = none(a, w->count);
	k->round = none(a, w->count);
	k->parties = arena_alloc(a, (w->count + 1) * sizeof *k->parties);
	k->called = arena_alloc(a, w->count + 1);
	k->forked = none(a, k->threads);
	k->head = none(a, k->threads);
	k->last = none(a, k->threads);
	k->initial = arena_alloc(a, (w->locs + 1) * sizeof *k->initial);
	k->known = arena_alloc(a, w->locs + 1);
	k->units = arena_alloc(a, (k->syncs + 1) * sizeof *k->units);
	see_memory(k, a);
	see_threads(k);
	see_barriers(k, a);
	see_semaphores(k, a);
	see_waits(k, a);
	return k;
}

/* ---- The trace as it would be. ---- */

struct lock {
	thread_id owner; /* of the exclusive side; 0: none */
	uint32_t depth;
	uint32_t sharers;
};

struct runner {
	uint32_t next;   /* its next event */
	uint32_t waits;  /* the wait that it is in; NOBODY */
	uint32_t depth;  /* how often it had the mutex */
	uint64_t calls;  /* of the condition, when it began to wait */
	uint32_t round;  /* the barrier's round that it is in; NOBODY */
	bool begun;
};

struct walk {
	const struct witness *k;
	const struct whole *w;
	const struct witness_plan *plan;
	struct runner *runner; /* by thread_id */
	struct lock *lock;     /* by sync_id */
	struct map sharing;    /* (thread, lock): how often it has the shared side */
	int64_t *units;
	uint64_t *calls;
	uint32_t *arrived; /* by round */
	uint32_t *last;    /* by location: the event that wrote it last */
	uint64_t place[3]; /* when e1, e2, e3 came, from 1; 0: not yet */
	uint64_t time;
};

static uint32_t *sharing(struct walk *k, thread_id t, uint64_t lock)
{
	return map_put(&k->sharing, (uint64_t)t << 32 | (uint32_t)lock);
}

static const char *acquire(struct walk *k, const struct event *e)
{
	struct lock *m = &k->lock[e->object];
	uint32_t *mine = sharing(k, e->thread, e->object);

	if (e->kind == EVENT_ACQUIRE_SHARED) {
		if (m->owner)
			return "a lock is taken on the shared side while another holds it";
		m->sharers += ++*mine == 1;
		return NULL;
	}
	if ((m->owner && m->owner != e->thread) || m->sharers)
		return "a lock is taken while another holds it";
	m->owner = e->thread;
	m->depth++;
	return NULL;
}

static const char *release(struct walk *k, const struct event *e)
{
	struct lock *m = &k->lock[e->object];
	uint32_t *mine = sharing(k, e->thread, e->object);

	if (*mine) {
		m->sharers -= --*mine == 0;
		return NULL;
	}
	if (m->owner != e->thread || e->kind == EVENT_RELEASE_SHARED)
		return "a lock is given back by somebody who does not have it";
	if (--m->depth == 0)
		m->owner = 0;
	return NULL;
}

static const char *wait(struct walk *k, uint32_t event)
{
	const struct event *e = &k->w->event[event];
	struct lock *m = &k->lock[e->mutex];
	struct runner *r = &k->runner[e->thread];

	if (m->owner != e->thread)
		return "a wait without its mutex";
	r->waits = event;
	r->depth = m->depth;
	r->calls = k->calls[e->object];
	*m = (struct lock){0};
	return NULL;
}

static const char *resume(struct walk *k, thread_id t)
{
	struct runner *r = &k->runner[t];

	if (r->waits != NOBODY) {
		const struct event *e = &k->w->event[r->waits];

		if (k->lock[e->mutex].owner || k->lock[e->mutex].sharers)
			return "a wait ends while another holds its mutex";
		if (k->k->called[r->waits] && k->calls[e->object] == r->calls)
			return "a wait ends that nobody has notified";
		k->lock[e->mutex] = (struct lock){t, r->depth, 0};
		r->waits = NOBODY;
	}
	if (r->round != NOBODY && k->arrived[r->round] < k->k->parties[r->round])
		return "a barrier is left before all have come";
	r->round = NOBODY;
	return NULL;
}

static bool is_free(const struct walk *k, uint32_t event)
{
	const struct event *e = &k->w->event[event], *x = &k->w->event[k->plan->culprit];

	return event == k->plan->second || event == k->plan->culprit ||
	       (e->thread == x->thread && event > k->plan->culprit && reads(x));
}

static bool same_value(const struct walk *k, uint32_t event, uint32_t loc, uint32_t writer)
{
	uint64_t want, have;

	if (!k->plan->values || k->w->event[event].kind == EVENT_ATOMIC_RMW || !value_of(k->w, event, loc, &want))
		return false;
	if (writer == NOBODY)
		return k->k->known[loc] && k->k->initial[loc] == want;
	return value_of(k->w, writer, loc, &have) && have == want;
}

static const char *touch(struct walk *k, uint32_t event)
{
	const struct event *e = &k->w->event[event];
	const struct span *s = &k->w->span[event];

	for (uint32_t i = 0; i < s->locs; i++) {
		uint32_t x = s->loc + i;

		if (reads(e) && !is_free(k, event) && k->last[x] != k->k->seen[k->k->first[event] + i] &&
			!same_value(k, event, x, k->last[x]))
			return "a read does not see what it saw";
		if (writes(e))
			k->last[x] = event;
	}
	return NULL;
}

static const char *take_unit(struct walk *k, const struct event *e)
{
	return --k->units[e->object] < 0 ? "a semaphore is below zero" : NULL;
}

static bool has_happened(const struct walk *k, uint32_t event)
{
	const struct runner *r = &k->runner[k->w->event[event].thread];

	return r->next == NOBODY ? r->begun : r->begun && event < r->next;
}

static const char *happen(struct walk *k, uint32_t event);

/* What the thread has left to do it does now: a plan need not name what nobody else can notice. */
static const char *join(struct walk *k, const struct event *e)
{
	struct runner *r = &k->runner[e->object];
	const char *wrong = NULL;

	if (k->k->forked[e->object] != NOBODY && !has_happened(k, k->k->forked[e->object]))
		return "a thread is joined before its fork";
	while (!wrong && r->next != NOBODY)
		wrong = happen(k, r->next);
	return wrong ? wrong : r->waits != NOBODY ? "a thread is joined inside a wait" : NULL;
}

static const char *act(struct walk *k, uint32_t event)
{
	const struct event *e = &k->w->event[event];

	switch (e->kind) {
	case EVENT_ACQUIRE: case EVENT_ACQUIRE_SHARED: return acquire(k, e);
	case EVENT_RELEASE: case EVENT_RELEASE_SHARED: return release(k, e);
	case EVENT_WAIT: return wait(k, event);
	case EVENT_JOIN: return join(k, e);
	case EVENT_SEM_WAIT: return take_unit(k, e);
	case EVENT_SEM_POST: k->units[e->object]++; return NULL;
	case EVENT_NOTIFY: case EVENT_NOTIFY_ALL: k->calls[e->object]++; return NULL;
	case EVENT_BARRIER:
		k->runner[e->thread].round = k->k->round[event];
		k->arrived[k->k->round[event]]++;
		return NULL;
	default: return touch(k, event);
	}
}

/* The thread's next event happens. */
static const char *happen(struct walk *k, uint32_t event)
{
	const struct event *e = &k->w->event[event];
	struct runner *r = &k->runner[e->thread];
	uint32_t three[3] = {k->plan->first, k->plan->culprit, k->plan->second};
	const char *wrong = resume(k, e->thread);

	if (wrong)
		return wrong;
	if (!r->begun && k->k->forked[e->thread] != NOBODY && !has_happened(k, k->k->forked[e->thread]))
		return "a thread begins before its fork";
	wrong = act(k, event);
	r->begun = true;
	r->next = k->k->next[event];
	k->time++;
	for (int i = 0; i < 3; i++)
		if (three[i] == event)
			k->place[i] = k->time;
	return wrong;
}

/* The thread goes on up to the event, and not beyond. */
static const char *go_to(struct walk *k, const struct witness_step *s)
{
	struct runner *r = &k->runner[k->w->event[s->event].thread];
	const char *wrong = NULL;

	while (!wrong && r->next != NOBODY && r->next < s->event)
		wrong = happen(k, r->next);
	if (wrong)
		return wrong;
	if (r->next != s->event)
		return "an event comes out of its thread's order";
	return s->resumes ? resume(k, k->w->event[s->event].thread) : happen(k, s->event);
}

static void walk_start(struct walk *k, struct arena *a, const struct witness *of, const struct witness_plan *plan)
{
	*k = (struct walk){.k = of, .w = of->w, .plan = plan};
	k->runner = arena_alloc(a, (of->threads + 1) * sizeof *k->runner);
	for (uint32_t t = 0; t <= of->threads; t++)
		k->runner[t] = (struct runner){.next = of->head[t], .waits = NOBODY, .round = NOBODY};
	k->lock = arena_alloc(a, (of->syncs + 1) * sizeof *k->lock);
	k->units = arena_alloc(a, (of->syncs + 1) * sizeof *k->units);
	memcpy(k->units, of->units, (of->syncs + 1) * sizeof *k->units);
	k->calls = arena_alloc(a, (of->syncs + 1) * sizeof *k->calls);
	k->arrived = arena_alloc(a, (of->w->count + 1) * sizeof *k->arrived);
	k->last = none(a, of->w->locs);
	map_init(&k->sharing, a);
}

/* ---- Whether that is a violation. ---- */

static bool touches(const struct whole *w, uint32_t event, uint32_t loc)
{
	return loc - w->span[event].loc < w->span[event].locs;
}

static const char *judge_pattern(const struct whole *w, const struct witness_plan *p)
{
	const struct event *a = &w->event[p->first], *x = &w->event[p->culprit], *b = &w->event[p->second];

	if (!touches(w, p->first, p->loc) || !touches(w, p->culprit, p->loc) || !touches(w, p->second, p->loc))
		return "the three accesses have no common location";
	if (a->thread != b->thread || a->thread == x->thread)
		return "the three accesses are not of two threads";
	if (!(writes(a) || writes(x)) || !(writes(x) || writes(b)))
		return "two of the three accesses do not conflict";
	if (!reads(a) && !reads(x) && !reads(b))
		return "the three accesses only write";
	return NULL;
}

/* Whether what was begun at the block's first event is still open at e3. */
static const char *judge_block(const struct witness *k, const struct witness_plan *p)
{
	const struct event *e = k->w->event;
	uint32_t begin = (uint32_t)p->block->seq - 1;
	uint8_t opens = e[begin].kind, closes = opens == EVENT_ENTER ? EVENT_EXIT : EVENT_END;
	int depth = 0;

	if (e[begin].thread != e[p->first].thread || begin >= p->first)
		return "e1 is not in the block";
	if (opens != EVENT_ENTER && opens != EVENT_BEGIN)
		return NULL; /* the span of a lock */
	for (uint32_t i = begin; i < p->second; i = k->next[i]) {
		depth += e[i].kind == opens;
		depth -= e[i].kind == closes;
		if (!depth)
			return "the block has ended before e3";
	}
	return NULL;
}

static const char *judge_order(const struct walk *k)
{
	if (!k->place[0] || !k->place[1] || !k->place[2])
		return "not all of the three accesses happen";
	if (k->place[0] > k->place[1] || k->place[1] > k->place[2])
		return "the three accesses come in another order";
	return NULL;
}

const char *witness_refutes(const struct witness *of, struct arena *a, const struct witness_plan *plan)
{
	struct walk k;
	const char *wrong = judge_pattern(of->w, plan);

	if (!wrong)
		wrong = judge_block(of, plan);
	if (wrong)
		return wrong;
	walk_start(&k, a, of, plan);
	for (uint32_t i = 0; i < plan->before && !wrong; i++)
		if (!event_is_declaration(of->w->event[i].kind))
			wrong = happen(&k, i);
	for (size_t i = 0; i < plan->steps && !wrong; i++)
		wrong = go_to(&k, &plan->step[i]);
	return wrong ? wrong : judge_order(&k);
}
