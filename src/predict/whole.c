/* SPDX-License-Identifier: MIT */
#include "whole.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/map.h"
#include "base/seg.h"
#include "event/tables.h"
#include "event/trace.h"

/* What a step is known by before there are locations: one for each step, in the order of the trace. */
struct raw {
	uint32_t event;
	uint8_t kind;
	bool shared, waits;
	uint32_t object;
};

/* What is noted while events come in. */
struct building {
	struct raw *raw;
	size_t count, capacity;
	struct map rounds; /* (barrier, round) to number + 1 */
	struct map shared; /* (thread, lock): the side that it holds is the shared one */
	struct seg stacks; /* stack_id by thread_id: where it is */
};

void whole_init(struct whole *w, struct arena *a, struct tables *tables)
{
	struct building *b = arena_alloc(a, sizeof *b);

	*w = (struct whole){.arena = a, .tables = tables, .building = b};
	map_init(&b->rounds, a);
	map_init(&b->shared, a);
	seg_init(&b->stacks, a, sizeof(stack_id));
}

static void note(struct whole *w, struct raw r)
{
	struct building *b = w->building;

	b->raw = arena_reserve(w->arena, b->raw, &b->capacity, b->count, sizeof r);
	r.event = (uint32_t)w->count;
	b->raw[b->count++] = r;
}

static uint32_t round_number(struct whole *w, uint64_t barrier, uint64_t round)
{
	struct building *b = w->building;
	uint32_t *number = map_put(&b->rounds, barrier << 40 ^ round);

	if (!*number)
		*number = ++w->rounds;
	return *number - 1;
}

static uint32_t *side(struct whole *w, const struct event *e)
{
	return map_put(&((struct building *)w->building)->shared, (uint64_t)e->thread << 32 | (uint32_t)e->object);
}

static void note_lock(struct whole *w, const struct event *e, bool reentrant)
{
	bool takes = e->kind == EVENT_ACQUIRE || e->kind == EVENT_ACQUIRE_SHARED;

	if (reentrant)
		return;
	if (takes)
		*side(w, e) = e->kind == EVENT_ACQUIRE_SHARED;
	note(w, (struct raw){.kind = takes ? STEP_ACQUIRE : STEP_RELEASE, .object = (uint32_t)e->object,
		.shared = *side(w, e)});
}

static const uint8_t step_kinds[EVENT_KINDS] = {
	[EVENT_READ] = STEP_READ, [EVENT_ATOMIC_LOAD] = STEP_READ, [EVENT_WRITE] = STEP_WRITE,
	[EVENT_ATOMIC_STORE] = STEP_WRITE, [EVENT_ALLOC] = STEP_WRITE, [EVENT_ATOMIC_RMW] = STEP_UPDATE,
	[EVENT_FORK] = STEP_FORK, [EVENT_JOIN] = STEP_JOIN, [EVENT_SEM_POST] = STEP_POST, [EVENT_SEM_WAIT] = STEP_TAKE,
	[EVENT_NOTIFY] = STEP_NOTIFY, [EVENT_NOTIFY_ALL] = STEP_NOTIFY,
};

static void note_event(struct whole *w, const struct event *e, const struct wf_step *step)
{
	switch (e->kind) {
	case EVENT_ACQUIRE: case EVENT_ACQUIRE_SHARED: case EVENT_RELEASE: case EVENT_RELEASE_SHARED:
		note_lock(w, e, step->reentrant);
		break;
	case EVENT_WAIT:
		note(w, (struct raw){.kind = STEP_RELEASE, .object = (uint32_t)e->mutex, .waits = true});
		break;
	case EVENT_BARRIER:
		note(w, (struct raw){.kind = STEP_ARRIVE, .object = round_number(w, e->object, step->round)});
		break;
	default:
		if (event_is_access(e->kind) || step_kinds[e->kind])
			note(w, (struct raw){.kind = step_kinds[e->kind], .object = (uint32_t)e->object});
	}
}

/* The call stack that the event happened on, as enters and exits tell it; then the thread enters or leaves. */
static stack_id follow_calls(struct whole *w, const struct event *e, uint32_t exits)
{
	stack_id *now = seg_at(&((struct building *)w->building)->stacks, e->thread, sizeof *now), at = *now;

	if (e->kind == EVENT_ENTER)
		*now = tables_stack(w->tables, (struct frame){at, (code_id)e->object, e->site});
	for (; e->kind == EVENT_EXIT && exits && *now; exits--)
		*now = tables_frame(w->tables, *now).parent;
	return e->stack ? e->stack : at;
}

void whole_add(struct whole *w, const struct event *e, const struct wf_step *step)
{
	if (step->reacquire)
		note(w, (struct raw){.kind = STEP_ACQUIRE, .object = step->reacquire, .waits = true});
	if (step->depart && !step->early)
		note(w, (struct raw){.kind = STEP_DEPART, .object = round_number(w, step->depart, step->departed)});
	note_event(w, e, step);
	w->event = arena_reserve(w->arena, w->event, &w->capacity, w->count, sizeof *e);
	w->event[w->count] = *e;
	w->event[w->count].stack = follow_calls(w, e, step->exits);
	w->count++;
	w->event[w->count - 1].seq = w->count;
}

/* ---- Locations. ---- */

/* The alloc of something that has a name instead of an address says nothing about memory. */
static bool touches_memory(const struct event *e)
{
	return event_is_access(e->kind) || (e->kind == EVENT_ALLOC && e->flags & EVENT_ADDRESSED);
}

/* Nothing reaches around the end of memory. */
static uint64_t bytes_of(const struct event *e)
{
	uint64_t n = e->kind == EVENT_ALLOC ? e->count : e->flags & EVENT_SIZED ? e->size : 1;

	return n < UINT64_MAX - e->object ? n : UINT64_MAX - e->object;
}

static int compare_numbers(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static void find_edges(struct whole *w)
{
	size_t n = 0, kept = 0;

	w->edge = arena_alloc(w->arena, (2 * w->count + 1) * sizeof *w->edge);
	for (size_t i = 0; i < w->count; i++)
		if (touches_memory(&w->event[i]) && w->event[i].flags & EVENT_ADDRESSED) {
			w->edge[n++] = w->event[i].object;
			w->edge[n++] = w->event[i].object + bytes_of(&w->event[i]);
		}
	if (n)
		qsort(w->edge, n, sizeof *w->edge, compare_numbers);
	for (size_t i = 0; i < n; i++)
		if (!kept || w->edge[kept - 1] != w->edge[i])
			w->edge[kept++] = w->edge[i];
	w->edges = (uint32_t)kept;
}

static uint32_t edge_at(const struct whole *w, uint64_t address)
{
	uint32_t low = 0, high = w->edges;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (w->edge[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct span span_of(const struct whole *w, const struct event *e)
{
	uint32_t from;

	if (!touches_memory(e))
		return (struct span){0, 0};
	if (!(e->flags & EVENT_ADDRESSED))
		return (struct span){w->edges + (uint32_t)e->object, 1};
	from = edge_at(w, e->object);
	return (struct span){from, edge_at(w, e->object + bytes_of(e)) - from};
}

/* By location: 0 nobody, thread + 1, or SHARED; and whether anybody writes it. */
enum { SHARED = UINT32_MAX };

static uint32_t *find_owners(struct whole *w)
{
	uint32_t *owner;
	bool *written;

	find_edges(w);
	w->locs = w->edges + w->tables->names[TABLE_OBJECT].count + 1;
	w->span = arena_alloc(w->arena, (w->count + 1) * sizeof *w->span);
	owner = arena_alloc(w->arena, w->locs * sizeof *owner);
	written = arena_alloc(w->arena, w->locs);
	for (size_t i = 0; i < w->count; i++) {
		const struct event *e = &w->event[i];

		w->span[i] = span_of(w, e);
		for (uint32_t x = w->span[i].loc; x < w->span[i].loc + w->span[i].locs; x++) {
			written[x] |= !event_is_read(e->kind);
			owner[x] = !owner[x] || owner[x] == e->thread ? e->thread : SHARED;
		}
	}
	for (uint32_t x = 0; x < w->locs; x++)
		if (!written[x])
			owner[x] = 0;
	arena_recycle(w->arena, written, w->locs);
	return owner;
}

static bool is_shared(const struct span *s, const uint32_t *owner)
{
	for (uint32_t x = s->loc; x < s->loc + s->locs; x++)
		if (owner[x] == SHARED)
			return true;
	return false;
}

/* ---- Steps. ---- */

static uint32_t thread_number(struct whole *w, uint64_t id)
{
	uint32_t *number = &w->thread_of[id];

	if (!*number) {
		w->thread[w->threads] = (struct whole_thread){.id = (thread_id)id, .fork = NO_STEP, .join = NO_STEP};
		*number = ++w->threads;
	}
	return *number - 1;
}

static struct step step_of_raw(struct whole *w, const struct raw *r)
{
	struct step s = {.event = r->event, .kind = r->kind, .shared = r->shared, .waits = r->waits, .object = r->object,
		.thread = thread_number(w, w->event[r->event].thread), .mate = NO_STEP, .signal = NO_STEP};

	if (step_is_access(&s)) {
		s.object = w->span[r->event].loc;
		s.locs = w->span[r->event].locs;
	} else if (s.kind == STEP_FORK || s.kind == STEP_JOIN) {
		s.object = thread_number(w, r->object);
	}
	return s;
}

/* The steps that matter, and where each event's begin. */
static void make_steps(struct whole *w, const uint32_t *owner)
{
	struct building *b = w->building;
	size_t threads = w->tables->names[TABLE_THREAD].count + 1;
	uint32_t next = 0;

	w->thread = arena_alloc(w->arena, threads * sizeof *w->thread);
	w->thread_of = arena_alloc(w->arena, threads * sizeof *w->thread_of);
	w->step = arena_alloc(w->arena, (b->count + 1) * sizeof *w->step);
	w->step_of = arena_alloc(w->arena, (w->count + 1) * sizeof *w->step_of);
	w->first_of = arena_alloc(w->arena, (w->count + 1) * sizeof *w->first_of);
	memset(w->step_of, 0xff, (w->count + 1) * sizeof *w->step_of);
	for (size_t i = 0; i < b->count; i++) {
		const struct raw *r = &b->raw[i];

		if (r->kind <= STEP_UPDATE && !is_shared(&w->span[r->event], owner))
			continue;
		while (next <= r->event)
			w->first_of[next++] = w->steps;
		if (r->kind != STEP_DEPART && !(r->kind == STEP_ACQUIRE && r->waits))
			w->step_of[r->event] = w->steps;
		w->step[w->steps] = step_of_raw(w, r);
		w->step[w->steps].at = w->thread[w->step[w->steps].thread].count++;
		w->steps++;
	}
	while (next <= w->count)
		w->first_of[next++] = w->steps;
}

/* ---- Lists. ---- */

static void list_threads(struct whole *w)
{
	uint32_t from = 0;

	w->by_thread = arena_alloc(w->arena, (w->steps + 1) * sizeof *w->by_thread);
	for (uint32_t t = 0; t < w->threads; from += w->thread[t++].count)
		w->thread[t].first = from;
	for (uint32_t i = 0; i < w->steps; i++) {
		const struct step *s = &w->step[i];

		w->by_thread[w->thread[s->thread].first + s->at] = i;
		if (s->kind == STEP_FORK)
			w->thread[s->object].fork = i;
		if (s->kind == STEP_JOIN)
			w->thread[s->object].join = i;
	}
}

/* Sums of counts: where the slice of each begins. Counts stand one place further on. */
static void sum_up(uint32_t *first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		first[i + 1] += first[i];
}

static void list_locs(struct whole *w)
{
	uint32_t *fill = arena_alloc(w->arena, (w->locs + 1) * sizeof *fill);

	w->loc_first = arena_alloc(w->arena, (w->locs + 1) * sizeof *w->loc_first);
	for (uint32_t i = 0; i < w->steps; i++)
		for (uint32_t k = 0; k < w->step[i].locs; k++)
			w->loc_first[w->step[i].object + k + 1]++;
	sum_up(w->loc_first, w->locs);
	memcpy(fill, w->loc_first, w->locs * sizeof *fill);
	w->by_loc = arena_alloc(w->arena, (w->loc_first[w->locs] + 1) * sizeof *w->by_loc);
	for (uint32_t i = 0; i < w->steps; i++)
		for (uint32_t k = 0; k < w->step[i].locs; k++)
			w->by_loc[fill[w->step[i].object + k]++] = i;
	arena_recycle(w->arena, fill, (w->locs + 1) * sizeof *fill);
}

static void list_locks(struct whole *w)
{
	uint32_t n = w->syncs + 2, *fill = arena_alloc(w->arena, n * sizeof *fill);

	w->lock_first = arena_alloc(w->arena, n * sizeof *w->lock_first);
	for (uint32_t i = 0; i < w->steps; i++)
		if (w->step[i].kind == STEP_ACQUIRE)
			w->lock_first[w->step[i].object + 1]++;
	sum_up(w->lock_first, w->syncs + 1);
	memcpy(fill, w->lock_first, n * sizeof *fill);
	w->by_lock = arena_alloc(w->arena, (w->lock_first[w->syncs + 1] + 1) * sizeof *w->by_lock);
	for (uint32_t i = 0; i < w->steps; i++)
		if (w->step[i].kind == STEP_ACQUIRE)
			w->by_lock[fill[w->step[i].object]++] = i;
	arena_recycle(w->arena, fill, n * sizeof *fill);
}

uint32_t slice_before(struct slice s, uint32_t step)
{
	uint32_t low = 0, high = s.count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (s.at[middle] < step)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- Who belongs to whom. ---- */

static void find_sources(struct whole *w)
{
	uint32_t *last = arena_alloc(w->arena, w->locs * sizeof *last), n = 0;

	for (uint32_t i = 0; i < w->steps; i++)
		if (step_is_access(&w->step[i]) && step_reads(&w->step[i]))
			n += w->step[i].locs;
	w->source = arena_alloc(w->arena, (n + 1) * sizeof *w->source);
	memset(last, 0xff, w->locs * sizeof *last);
	n = 0;
	for (uint32_t i = 0; i < w->steps; i++) {
		struct step *s = &w->step[i];

		if (step_is_access(s) && step_reads(s)) {
			s->source = n;
			memcpy(w->source + n, last + s->object, s->locs * sizeof *last);
			n += s->locs;
		}
		for (uint32_t k = 0; k < s->locs && step_writes(s); k++)
			last[s->object + k] = i;
	}
	arena_recycle(w->arena, last, w->locs * sizeof *last);
}

static uint32_t hold(struct whole *w, size_t *capacity, struct holding h)
{
	w->holding = arena_reserve(w->arena, w->holding, capacity, w->holdings, sizeof h);
	w->holding[w->holdings] = h;
	return w->holdings++;
}

/* The list without one of its sections. */
static uint32_t let_go(struct whole *w, size_t *capacity, uint32_t list, uint32_t acquire)
{
	struct holding h = w->holding[list];

	if (!list || h.acquire == acquire)
		return list ? h.next : 0;
	return hold(w, capacity, (struct holding){h.acquire, let_go(w, capacity, h.next, acquire)});
}

/* Whether threads only ever give back what they themselves have taken, one at a time. */
static uint8_t *semaphore_locks(const struct whole *w)
{
	uint8_t *is_none = arena_alloc(w->arena, w->syncs + 1);
	uint32_t *owner = arena_alloc(w->arena, (w->syncs + 1) * sizeof *owner);

	for (uint32_t i = 0; i < w->steps; i++) {
		const struct step *s = &w->step[i];

		if (s->kind != STEP_TAKE && s->kind != STEP_POST)
			continue;
		is_none[s->object] |= owner[s->object] != (s->kind == STEP_TAKE ? 0 : s->thread + 1);
		owner[s->object] = s->kind == STEP_TAKE ? s->thread + 1 : 0;
	}
	return is_none;
}

/*
 * A semaphore that is used as a lock is one: any take may then come behind any post. Had it begun with more than one
 * unit, nobody has seen it; and what a lock allows, a semaphore of more allows, too.
 */
static void find_locks(struct whole *w)
{
	const uint8_t *is_none = semaphore_locks(w);

	for (uint32_t i = 0; i < w->steps; i++) {
		struct step *s = &w->step[i];

		if ((s->kind == STEP_TAKE || s->kind == STEP_POST) && !is_none[s->object])
			s->kind = s->kind == STEP_TAKE ? STEP_ACQUIRE : STEP_RELEASE;
	}
}

/* An acquire and its release are mates; every step knows the sections that it is in, a release still its own. */
static void find_sections(struct whole *w)
{
	uint32_t *held = arena_alloc(w->arena, (w->threads + 1) * sizeof *held);
	size_t capacity = 0;
	struct map open; /* (thread, lock) to acquire + 1 */

	map_init(&open, w->arena);
	hold(w, &capacity, (struct holding){NO_STEP, 0});
	for (uint32_t i = 0; i < w->steps; i++) {
		struct step *s = &w->step[i];
		uint64_t key = (uint64_t)s->thread << 32 | s->object;

		if (s->kind == STEP_ACQUIRE) {
			*map_put(&open, key) = i + 1;
			held[s->thread] = hold(w, &capacity, (struct holding){i, held[s->thread]});
		}
		s->held = held[s->thread];
		if (s->kind == STEP_RELEASE) {
			s->mate = map_get(&open, key) - 1;
			w->step[s->mate].mate = i;
			held[s->thread] = let_go(w, &capacity, s->held, s->mate);
		}
	}
}

/*
 * The smallest count that a semaphore can have begun with is the one that it had: then take number i lives on post
 * number i less that count.
 */
static void find_posts(struct whole *w, const uint32_t *list, uint32_t n)
{
	int64_t count = 0, least = 0;
	uint32_t post = 0, take = 0;

	for (uint32_t i = 0; i < n; i++) {
		count += w->step[list[i]].kind == STEP_POST ? 1 : -1;
		least = count < least ? count : least;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (w->step[list[i]].kind != STEP_TAKE || take++ < -least)
			continue;
		while (w->step[list[post]].kind != STEP_POST)
			post++;
		w->step[list[i]].mate = list[post++];
	}
}

static void find_semaphores(struct whole *w)
{
	uint32_t *list = arena_alloc(w->arena, (w->steps + 1) * sizeof *list);
	uint32_t *first = arena_alloc(w->arena, (w->syncs + 2) * sizeof *first), *fill;

	for (uint32_t i = 0; i < w->steps; i++)
		if (w->step[i].kind == STEP_POST || w->step[i].kind == STEP_TAKE)
			first[w->step[i].object + 1]++;
	sum_up(first, w->syncs + 1);
	fill = arena_alloc(w->arena, (w->syncs + 2) * sizeof *fill);
	memcpy(fill, first, (w->syncs + 2) * sizeof *fill);
	for (uint32_t i = 0; i < w->steps; i++)
		if (w->step[i].kind == STEP_POST || w->step[i].kind == STEP_TAKE)
			list[fill[w->step[i].object]++] = i;
	for (uint32_t s = 0; s <= w->syncs; s++)
		find_posts(w, list + first[s], first[s + 1] - first[s]);
	arena_recycle(w->arena, list, (w->steps + 1) * sizeof *list);
}

/* A thread inside a condition wait. */
struct waiter {
	uint64_t condition; /* 0: it does not wait */
	uint32_t wake;      /* the step with which it goes on; NO_STEP if it never does */
	uint32_t signal;
};

/* Of those who wait for it and have not been called, the one that goes on first. */
static struct waiter *find_waiter(const struct whole *w, struct waiter *waiter, uint64_t condition)
{
	struct waiter *found = NULL;

	for (uint32_t t = 0; t < w->threads; t++)
		if (waiter[t].condition == condition && waiter[t].signal == NO_STEP && waiter[t].wake != NO_STEP &&
			(!found || waiter[t].wake < found->wake))
			found = &waiter[t];
	return found;
}

static void wake_up(const struct whole *w, struct waiter *waiter, uint32_t notify)
{
	const struct event *e = &w->event[w->step[notify].event];
	struct waiter *who;

	while ((who = find_waiter(w, waiter, e->object))) {
		who->signal = notify;
		if (e->kind == EVENT_NOTIFY)
			return;
	}
}

static struct waiter waiter_of(const struct whole *w, const struct step *s)
{
	const struct whole_thread *t = &w->thread[s->thread];

	return (struct waiter){.condition = w->event[s->event].object, .signal = NO_STEP,
		.wake = s->at + 1 < t->count ? w->by_thread[t->first + s->at + 1] : NO_STEP};
}

/* Each notify belongs to those waits that it can have ended: one that wakes a single thread to one at most. */
static void find_signals(struct whole *w)
{
	struct waiter *waiter = arena_alloc(w->arena, (w->threads + 1) * sizeof *waiter);

	for (uint32_t i = 0; i < w->steps; i++) {
		struct step *s = &w->step[i];

		if (s->kind == STEP_RELEASE && s->waits) {
			waiter[s->thread] = waiter_of(w, s);
		} else if (s->kind == STEP_ACQUIRE && s->waits) {
			s->signal = waiter[s->thread].signal;
			waiter[s->thread].condition = 0;
		} else if (s->kind == STEP_NOTIFY) {
			wake_up(w, waiter, i);
		}
	}
}

static void find_rounds(struct whole *w)
{
	w->round = arena_alloc(w->arena, (w->rounds + 1) * sizeof *w->round);
	memset(w->round, 0xff, (w->rounds + 1) * sizeof *w->round);
	for (uint32_t i = 0; i < w->steps; i++)
		if (w->step[i].kind == STEP_ARRIVE) {
			w->step[i].mate = w->round[w->step[i].object];
			w->round[w->step[i].object] = i;
		}
}

void whole_finish(struct whole *w)
{
	uint32_t *owner = find_owners(w);

	w->syncs = w->tables->names[TABLE_SYNC].count;
	make_steps(w, owner);
	arena_recycle(w->arena, owner, w->locs * sizeof *owner);
	list_threads(w);
	list_locs(w);
	list_locks(w);
	find_sources(w);
	find_locks(w);
	find_sections(w);
	find_semaphores(w);
	find_signals(w);
	find_rounds(w);
}

/* ---- From files and from memory. ---- */

static struct wf_step judge(struct whole *w, struct wellformed *f, const struct event *e)
{
	struct wf_step step = wellformed_step(f, e);

	if (!step.broken || (step.mended && f->lenient))
		whole_add(w, e, &step);
	return step;
}

static bool take_all(struct whole *w, struct trace *t, struct wellformed *f, struct fault *fault)
{
	struct event events[TRACE_BATCH];
	char place[4200];
	size_t n;

	while ((n = trace_next(t, events, TRACE_BATCH)) > 0)
		for (size_t i = 0; i < n; i++) {
			struct wf_step step = judge(w, f, &events[i]);

			if (!step.broken || f->lenient)
				continue;
			trace_place(t, i, step.field, place, sizeof place);
			fault_set(fault, STATUS_TRACE, "%s: %s", place, f->why);
			return false;
		}
	if (fault_is_set(&t->fault))
		*fault = t->fault;
	return !fault_is_set(fault);
}

bool whole_read(struct whole *w, const char *path, bool lenient, struct fault *fault)
{
	struct trace t = {0};
	struct wellformed f;
	bool good;

	if (!trace_open(&t, path, w->tables, lenient)) {
		*fault = t.fault;
		return false;
	}
	wellformed_init(&f, w->arena, w->tables, lenient);
	good = take_all(w, &t, &f, fault);
	memcpy(w->broken, f.count, sizeof w->broken);
	w->skipped = t.skipped;
	if (t.incomplete)
		w->cut = arena_text(w->arena, t.incomplete_at, strlen(t.incomplete_at));
	trace_close(&t);
	if (good)
		whole_finish(w);
	return good;
}

void whole_take(struct whole *w, const struct event *events, size_t n)
{
	struct wellformed f;

	wellformed_init(&f, w->arena, w->tables, true);
	for (size_t i = 0; i < n; i++)
		judge(w, &f, &events[i]);
	memcpy(w->broken, f.count, sizeof w->broken);
	whole_finish(w);
}

/* ---- Values. ---- */

/* Of what the event has of its memory, the part that is the location. */
static bool part_of(const struct whole *w, const struct event *e, uint32_t loc, uint64_t *value)
{
	uint64_t from, bytes;

	if (!(e->flags & EVENT_ADDRESSED))
		return true;
	from = w->edge[loc] - e->object;
	bytes = w->edge[loc + 1] - w->edge[loc];
	if (from + bytes > sizeof *value)
		return false;
	*value >>= 8 * from;
	if (bytes < sizeof *value)
		*value &= ((uint64_t)1 << 8 * bytes) - 1;
	return true;
}

bool whole_value(const struct whole *w, uint32_t step, uint32_t loc, uint64_t *value)
{
	const struct event *e = &w->event[w->step[step].event];

	if (e->kind == EVENT_ALLOC || !(e->flags & EVENT_VALUED))
		return false;
	*value = e->value;
	return part_of(w, e, loc, value);
}

bool whole_was(const struct whole *w, uint32_t step, uint32_t loc, uint64_t *value)
{
	const struct event *e = &w->event[w->step[step].event];

	if (!(e->flags & EVENT_WAS))
		return false;
	*value = e->was;
	return part_of(w, e, loc, value);
}
