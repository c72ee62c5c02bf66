/* SPDX-License-Identifier: MIT */
#include "steps.h"

#include <string.h>

enum { NAMES_MOST = REORDER_EVENTS_MOST };

/* Objects of one sort, numbered as they come up. */
struct names {
	uint64_t id[NAMES_MOST];
	size_t count;
};

struct side {
	uint8_t depth;
	bool shared;
};

/* What a thread has come to while the trace is read. */
struct strand {
	struct side side[STEPS_LOCKS];
	struct side before_wait;
	const struct event *last;
	uint8_t wait_lock; /* from 1 */
	uint64_t round;	   /* that it arrived in: index of `rounds`, from 1 */
	size_t blocks;
	int8_t units[STEPS_SEMAPHORES];
	size_t filled; /* steps */
};

struct round {
	uint64_t barrier, missing, arrivals;
};

/* A byte or a named variable that stands for its cell. */
struct cell {
	bool addressed;
	uint64_t object;
};

struct maker {
	struct steps *s;
	const struct event *events;
	size_t n, placed;
	struct names locks, semaphores;
	struct strand strand[REORDER_THREADS_MOST];
	struct round round[REORDER_EVENTS_MOST];
	size_t rounds;
	int8_t units[STEPS_SEMAPHORES];
	struct cell cell[STEPS_CELLS];
	size_t cells;
};

static size_t number_of(struct names *names, uint64_t id)
{
	for (size_t i = 0; i < names->count; i++)
		if (names->id[i] == id)
			return i;
	names->id[names->count] = id;
	return names->count++;
}

static size_t thread_of(const struct steps *s, uint64_t id)
{
	size_t t = 0;

	while (t < s->threads && s->id[t] != id)
		t++;
	return t;
}

/* ---- How many steps each thread has. ---- */

static bool owes_acquire(const struct event *e)
{
	return e && e->kind == EVENT_WAIT;
}

static bool count_steps(struct maker *k)
{
	const struct event *last[REORDER_THREADS_MOST] = {NULL};
	size_t count[REORDER_THREADS_MOST] = {0};
	struct steps *s = k->s;

	for (const struct event *e = k->events; e < k->events + k->n; e++) {
		size_t t = thread_of(s, e->thread);

		if (t == REORDER_THREADS_MOST)
			return false;
		if (t == s->threads)
			s->id[s->threads++] = e->thread;
		count[t] += 1 + owes_acquire(last[t]);
		last[t] = e;
	}
	for (size_t t = 0, sum = 0; t < s->threads; t++) {
		sum += count[t];
		if (sum > STEPS_MOST)
			return false;
		s->first[t + 1] = (uint8_t)sum;
	}
	return true;
}

/* ---- Cells. ---- */

static bool uses_memory(const struct event *e)
{
	return event_is_access(e->kind) || (e->kind == EVENT_ALLOC && e->flags & EVENT_ADDRESSED);
}

static uint64_t bytes_of(const struct event *e)
{
	if (e->kind == EVENT_ALLOC)
		return e->count;
	return e->flags & EVENT_SIZED ? e->size : 1;
}

static bool touches(const struct event *e, struct cell c)
{
	if (!uses_memory(e) || !(e->flags & EVENT_ADDRESSED) != !c.addressed)
		return false;
	return c.addressed ? c.object >= e->object && c.object - e->object < bytes_of(e) : c.object == e->object;
}

static bool is_touched(const struct maker *k, struct cell c)
{
	for (size_t i = 0; i < k->n; i++)
		if (event_is_access(k->events[i].kind) && touches(&k->events[i], c))
			return true;
	return false;
}

static bool cell_add(struct maker *k, struct cell c)
{
	for (size_t i = 0; i < k->cells; i++)
		if (k->cell[i].object == c.object && k->cell[i].addressed == c.addressed)
			return true;
	if (!is_touched(k, c))
		return true;
	if (k->cells == STEPS_CELLS)
		return false;
	k->cell[k->cells++] = c;
	return true;
}

/* Between two neighbouring ends of accesses nothing begins or ends: the lowest byte stands for all of them. */
static bool find_cells(struct maker *k)
{
	for (const struct event *e = k->events; e < k->events + k->n; e++) {
		struct cell c = {e->flags & EVENT_ADDRESSED, e->object};

		if (!uses_memory(e))
			continue;
		if (!cell_add(k, c))
			return false;
		c.object += bytes_of(e);
		if (c.addressed && c.object > e->object && !cell_add(k, c))
			return false;
	}
	return true;
}

static uint64_t cells_of(const struct maker *k, const struct event *e)
{
	uint64_t cells = 0;

	for (size_t i = 0; i < k->cells; i++)
		if (touches(e, k->cell[i]))
			cells |= (uint64_t)1 << i;
	return cells;
}

/* ---- What each event means, in the order of the trace. ---- */

static void acquire(struct strand *t, struct step *e, size_t lock, bool shared)
{
	struct side *m = &t->side[lock];
	uint32_t bit = (uint32_t)1 << lock;

	e->lock = (uint8_t)(lock + 1);
	if (m->depth++ > 0)
		return;
	m->shared = shared;
	if (shared)
		e->takes.shared |= bit;
	else
		e->takes.exclusive |= bit;
}

static void wait_begin(struct strand *t, size_t lock)
{
	t->wait_lock = (uint8_t)(lock + 1);
	t->before_wait = t->side[lock];
	t->side[lock].depth = 0;
}

static void wait_end(struct strand *t, struct step *e)
{
	struct side *m = &t->side[t->wait_lock - 1];

	acquire(t, e, t->wait_lock - 1, t->before_wait.shared);
	m->depth = t->before_wait.depth;
	t->wait_lock = 0;
}

static void arrive(struct maker *k, struct strand *t, const struct event *e, uint64_t step)
{
	size_t i = k->rounds;

	while (i > 0 && k->round[i - 1].barrier != e->object)
		i--;
	if (i == 0 || k->round[i - 1].missing == 0) {
		i = ++k->rounds;
		k->round[i - 1] = (struct round){.barrier = e->object, .missing = e->count};
	}
	k->round[i - 1].missing--;
	k->round[i - 1].arrivals |= step;
	t->round = i;
}

static void semaphore(struct maker *k, struct strand *t, struct step *e, size_t i)
{
	int8_t unit = e->event->kind == EVENT_SEM_POST ? 1 : -1;

	t->units[i] = (int8_t)(t->units[i] + unit);
	k->units[i] = (int8_t)(k->units[i] + unit);
	if (k->units[i] < -k->s->units[i])
		k->s->units[i] = (int8_t)-k->units[i];
	if (unit < 0)
		e->semaphore = (uint8_t)(i + 1);
}

static void mean(struct maker *k, struct strand *t, struct step *e)
{
	const struct event *v = e->event;

	switch (v->kind) {
	case EVENT_ACQUIRE:
	case EVENT_ACQUIRE_SHARED:
		acquire(t, e, number_of(&k->locks, v->object), v->kind == EVENT_ACQUIRE_SHARED);
		break;
	case EVENT_RELEASE:
	case EVENT_RELEASE_SHARED: t->side[number_of(&k->locks, v->object)].depth--; break;
	case EVENT_WAIT: wait_begin(t, number_of(&k->locks, v->mutex)); break;
	case EVENT_BARRIER: arrive(k, t, v, (uint64_t)1 << (e - k->s->at)); break;
	case EVENT_SEM_WAIT:
	case EVENT_SEM_POST: semaphore(k, t, e, number_of(&k->semaphores, v->object)); break;
	case EVENT_ALLOC: k->s->allocs |= v->flags & EVENT_ADDRESSED; break;
	default: break;
	}
	e->cells = cells_of(k, v);
}

static struct hold hold_of(const struct strand *t)
{
	struct hold h = {0, 0};

	for (size_t i = 0; i < STEPS_LOCKS; i++)
		if (t->side[i].depth && t->side[i].shared)
			h.shared |= (uint32_t)1 << i;
		else if (t->side[i].depth)
			h.exclusive |= (uint32_t)1 << i;
	return h;
}

/* The next step of the thread. In a block it belongs to what the step before it does. */
static struct step *place(struct maker *k, struct strand *t, const struct event *e)
{
	size_t thread = (size_t)(t - k->strand), i = k->s->first[thread] + t->filled++;
	struct step *s = &k->s->at[i];

	k->s->order[k->placed++] = (uint8_t)i;
	*s = (struct step){.event = e, .thread = (uint8_t)thread, .node = (uint64_t)1 << i, .declared = t->blocks > 0};
	if (t->blocks)
		s->node |= s[-1].node;
	return s;
}

/* The end of a block is within it, and so is the begin of one. */
static void count_blocks(struct strand *t, struct step *s)
{
	if (s->event->kind == EVENT_BEGIN) {
		t->blocks++;
		s->declared = true;
	}
	if (s->event->kind == EVENT_END)
		t->blocks--;
}

static void settle(struct step *s, const struct strand *t)
{
	s->hold = hold_of(t);
	memcpy(s->units, t->units, sizeof s->units);
}

static void read_event(struct maker *k, const struct event *e)
{
	struct strand *t = &k->strand[thread_of(k->s, e->thread)];
	struct step *s;

	if (owes_acquire(t->last)) {
		s = place(k, t, e);
		s->reacquires = true;
		wait_end(t, s);
		settle(s, t);
	}
	s = place(k, t, e);
	/* A thread departs from a barrier before it can arrive at the next one. */
	if (t->last && t->last->kind == EVENT_BARRIER)
		s->round = k->round[t->round - 1].arrivals;
	mean(k, t, s);
	settle(s, t);
	count_blocks(t, s);
	t->last = e;
}

/* A block's first steps learn of the later ones. */
static void spread_nodes(struct steps *s)
{
	for (size_t i = steps_count(s); i-- > 1;)
		if (s->at[i].node >> (i - 1) & 1)
			s->at[i - 1].node |= s->at[i].node;
}

/* ---- What must come before what. ---- */

void steps_require(struct steps *s, size_t i, size_t j)
{
	unsigned shift = 8u * s->at[j].thread, least = steps_position(s, j);

	if ((s->at[i].need >> shift & 0xff) >= least)
		return;
	s->at[i].need &= ~((uint64_t)0xff << shift);
	s->at[i].need |= (uint64_t)least << shift;
}

/* A thread's first step, and its join, come after its fork. */
static void require_fork(struct steps *s, size_t i, uint64_t thread)
{
	for (size_t j = 0; j < steps_count(s); j++)
		if (s->at[j].event->kind == EVENT_FORK && !s->at[j].reacquires && s->at[j].event->object == thread)
			steps_require(s, i, j);
}

static void require_thread(struct steps *s, size_t i, uint64_t thread)
{
	size_t t = thread_of(s, thread);

	require_fork(s, i, thread);
	if (t < s->threads)
		steps_require(s, i, s->first[t + 1] - 1u);
}

static void require_all(struct steps *s)
{
	for (size_t t = 0; t < s->threads; t++)
		require_fork(s, s->first[t], s->id[t]);
	for (size_t i = 0; i < steps_count(s); i++) {
		if (s->at[i].event->kind == EVENT_JOIN && !s->at[i].reacquires)
			require_thread(s, i, s->at[i].event->object);
		for (uint64_t left = s->at[i].round; left; left &= left - 1)
			steps_require(s, i, (size_t)__builtin_ctzll(left));
	}
}

bool steps_make(struct steps *s, const struct event *events, size_t n)
{
	struct maker k = {.s = s, .events = events, .n = n};

	s->threads = 0;
	s->first[0] = 0;
	s->allocs = false;
	memset(s->units, 0, sizeof s->units);
	if (n > REORDER_EVENTS_MOST || !count_steps(&k) || !find_cells(&k))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (k.locks.count >= STEPS_LOCKS || k.semaphores.count >= STEPS_SEMAPHORES)
			return false;
		read_event(&k, &events[i]);
	}
	spread_nodes(s);
	require_all(s);
	return true;
}

int steps_of(const struct steps *s, uint64_t seq)
{
	for (size_t i = 0; i < steps_count(s); i++)
		if (s->at[i].event->seq == seq && !s->at[i].reacquires)
			return (int)i;
	return -1;
}

/* ---- Where the threads are. ---- */

bool steps_complete(const struct steps *s, uint64_t positions)
{
	for (size_t t = 0; t < s->threads; t++)
		if (steps_next(s, positions, t) >= 0)
			return false;
	return true;
}

uint64_t steps_mask(const struct steps *s, uint64_t positions)
{
	uint64_t mask = 0;

	for (size_t t = 0; t < s->threads; t++) {
		unsigned done = steps_done(positions, t);

		if (done)
			mask |= ~(uint64_t)0 >> (64 - done) << s->first[t];
	}
	return mask;
}

static bool is_free(const struct steps *s, uint64_t positions, const struct step *e)
{
	for (size_t u = 0; u < s->threads; u++) {
		unsigned done = steps_done(positions, u);
		struct hold h;

		if (u == e->thread || !done)
			continue;
		h = s->at[s->first[u] + done - 1].hold;
		if (e->takes.exclusive & (h.exclusive | h.shared) || e->takes.shared & h.exclusive)
			return false;
	}
	return true;
}

static bool has_unit(const struct steps *s, uint64_t positions, size_t semaphore)
{
	int units = s->units[semaphore];

	for (size_t u = 0; u < s->threads; u++) {
		unsigned done = steps_done(positions, u);

		if (done)
			units += s->at[s->first[u] + done - 1].units[semaphore];
	}
	return units > 0;
}

bool steps_can(const struct steps *s, uint64_t positions, size_t i)
{
	const uint64_t high = 0x8080808080808080u;
	const struct step *e = &s->at[i];

	/* No byte reaches 128: where a position is below the need, the byte's high bit is borrowed. */
	if ((((positions | high) - e->need) & high) != high)
		return false;
	if (!steps_takes(e))
		return true;
	return is_free(s, positions, e) && (!e->semaphore || has_unit(s, positions, e->semaphore - 1u));
}
