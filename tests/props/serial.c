/* SPDX-License-Identifier: MIT */
/*
 * Conflicts: a cycle closes with an event of a transaction that is not at its end, or would be a cycle without it. So
 * of all the order between transactions it is enough to know, for the open one of each thread, which steps lie in
 * transactions that come after it; an event closes a cycle if one of those is to come before it. That and the
 * positions are the whole state.
 *
 * Views: a state is the positions, what each read so far has seen, and what was written last. Each complete view is
 * met once, however many reorderings have it. Whether it is that of a serial trace is a search of its own, a
 * transaction at a time.
 *
 * Both do a step at once, without looking at what else could happen, if it takes nothing that others may want and its
 * place among the steps of others cannot be told.
 */
#include "serial.h"

#include <string.h>

#include "memory.h"
#include "seen.h"
#include "steps.h"

/* ---- Which steps are ordered when one is done before the other. ---- */

struct order {
	uint64_t before[STEPS_MOST]; /* those that, if done earlier, are ordered before the step */
	uint64_t quiet;		     /* steps that may be done as soon as they can */
};

static bool is_access(const struct step *e)
{
	return !e->reacquires && event_is_access(e->event->kind);
}

/* Cells with an alloc between places p and q of the trace. */
static uint64_t new_lives(const struct steps *s, size_t p, size_t q)
{
	uint64_t cells = 0;

	while (++p < q) {
		const struct step *e = &s->at[s->order[p]];

		if (!e->reacquires && e->event->kind == EVENT_ALLOC)
			cells |= e->cells;
	}
	return cells;
}

/* Whether the steps at places p and q of the trace conflict. */
static bool conflict(const struct steps *s, size_t p, size_t q)
{
	const struct step *e = &s->at[s->order[p]], *f = &s->at[s->order[q]];

	if (!is_access(e) || !is_access(f) || (!steps_writes(e) && !steps_writes(f)))
		return false;
	return (e->cells & f->cells & ~new_lives(s, p < q ? p : q, p < q ? q : p)) != 0;
}

static bool is_about(const struct step *e, enum event_kind kind, thread_id thread)
{
	return !e->reacquires && e->event->kind == kind && e->event->object == thread;
}

/* By the line of fork and join. */
static bool thread_orders(const struct steps *s, size_t i, size_t j)
{
	const struct step *e = &s->at[i], *f = &s->at[j];

	if (is_about(e, EVENT_FORK, f->event->thread) || is_about(f, EVENT_JOIN, e->event->thread))
		return true;
	return f->event->kind == EVENT_JOIN && !f->reacquires && is_about(e, EVENT_FORK, (thread_id)f->event->object);
}

/* What the thread held before the step and does not hold after it. */
static struct hold dropped(const struct steps *s, size_t i)
{
	struct hold h = {0, 0};

	if (i == s->first[s->at[i].thread])
		return h;
	h.exclusive = s->at[i - 1].hold.exclusive & ~s->at[i].hold.exclusive;
	h.shared = s->at[i - 1].hold.shared & ~s->at[i].hold.shared;
	return h;
}

/* By locks, barriers and semaphores. */
static bool sync_orders(const struct steps *s, size_t i, size_t j)
{
	const struct step *e = &s->at[i], *f = &s->at[j];
	struct hold h = dropped(s, i);

	if (f->takes.exclusive & (h.exclusive | h.shared) || f->takes.shared & h.exclusive || f->round >> i & 1)
		return true;
	return f->semaphore && is_about(e, EVENT_SEM_POST, (thread_id)f->event->object);
}

static bool is_quiet(const struct steps *s, const struct order *o, size_t i, enum serial_order order)
{
	const struct step *e = &s->at[i];

	if (steps_takes(e) || (order == SERIAL_FULL && !e->reacquires && e->event->kind == EVENT_SEM_POST))
		return false;
	for (size_t j = 0; j < steps_count(s); j++)
		if (is_access(e) && is_access(&s->at[j]) && s->at[j].thread != e->thread && o->before[i] >> j & 1)
			return false;
	return true;
}

static void order_make(struct order *o, const struct steps *s, enum serial_order order)
{
	size_t n = steps_count(s);

	memset(o, 0, sizeof *o);
	for (size_t p = 0; p < n; p++)
		for (size_t q = 0; q < n; q++) {
			size_t i = s->order[p], j = s->order[q];
			bool ordered;

			if (s->at[i].thread == s->at[j].thread)
				ordered = i < j && !(s->at[j].node >> i & 1);
			else
				ordered = conflict(s, p, q) || thread_orders(s, i, j) ||
					  (order == SERIAL_FULL && sync_orders(s, i, j));
			o->before[j] |= (uint64_t)ordered << i;
		}
	for (size_t i = 0; i < n; i++)
		o->quiet |= (uint64_t)is_quiet(s, o, i, order) << i;
}

/* ---- By conflicts. ---- */

struct tangle {
	uint64_t positions;
	uint64_t reach[REORDER_THREADS_MOST]; /* steps of transactions that come after the thread's open one */
};

/* The steps of the transaction that the thread is in the middle of. */
static uint64_t open_node(const struct steps *s, uint64_t positions, size_t t)
{
	unsigned done = steps_done(positions, t);
	int next = steps_next(s, positions, t);
	uint64_t node;

	if (!done || next < 0)
		return 0;
	node = s->at[next - 1].node;
	return node >> next & 1 ? node : 0;
}

/* Does step i; false if that closes a cycle. */
static bool tangle_step(struct tangle *g, const struct order *o, const struct steps *s, size_t i)
{
	uint64_t before = o->before[i] & steps_mask(s, g->positions), node = s->at[i].node;
	size_t t = s->at[i].thread;

	if (g->reach[t] & before)
		return false;
	for (size_t u = 0; u < s->threads; u++)
		if (u != t && (g->reach[u] | open_node(s, g->positions, u)) & before)
			g->reach[u] |= node | g->reach[t];
	g->positions += (uint64_t)1 << (8 * t);
	if (!open_node(s, g->positions, t))
		g->reach[t] = 0;
	return true;
}

enum reorder_answer serial_by_conflicts(const struct event *sequence, size_t n, enum serial_order order)
{
	struct tangle g = {0};
	struct steps s;
	struct order o;

	if (!steps_make(&s, sequence, n))
		return REORDER_UNDECIDED;
	order_make(&o, &s, order);
	for (size_t p = 0; p < steps_count(&s); p++)
		if (!tangle_step(&g, &o, &s, s.order[p]))
			return REORDER_NO;
	return REORDER_YES;
}

/* Stuck with a thread in the middle of a block. */
static bool is_cut(const struct steps *s, uint64_t positions)
{
	for (size_t t = 0; t < s->threads; t++)
		if (open_node(s, positions, t))
			return true;
	return false;
}

struct hunt {
	struct steps steps;
	struct order order;
	struct sights sights;
	struct seen seen;
	bool undecided;
};

static int possible(const struct hunt *h, uint64_t positions, size_t t)
{
	int i = steps_next(&h->steps, positions, t);

	return i >= 0 && steps_can(&h->steps, positions, (size_t)i) ? i : -1;
}

static int possible_quietly(const struct hunt *h, uint64_t positions)
{
	for (size_t t = 0; t < h->steps.threads; t++) {
		int i = possible(h, positions, t);

		if (i >= 0 && h->order.quiet >> i & 1)
			return i;
	}
	return -1;
}

/* Whether some reordering from here on has a cycle or is cut. */
static bool tangles(struct hunt *h, struct tangle g)
{
	uint64_t key[1 + REORDER_THREADS_MOST];
	bool stuck = true;

	for (int i; (i = possible_quietly(h, g.positions)) >= 0;)
		if (!tangle_step(&g, &h->order, &h->steps, (size_t)i))
			return true;
	key[0] = g.positions | STEPS_MARK;
	memcpy(key + 1, g.reach, sizeof g.reach);
	if (!seen_add(&h->seen, key))
		return false;
	for (size_t t = 0; t < h->steps.threads; t++) {
		int i = possible(h, g.positions, t);
		struct tangle next = g;

		if (i < 0)
			continue;
		stuck = false;
		if (!tangle_step(&next, &h->order, &h->steps, (size_t)i) || tangles(h, next))
			return true;
	}
	return stuck && is_cut(&h->steps, g.positions);
}

/* The answer of a search for what should not be there. */
static enum reorder_answer verdict(struct hunt *h, bool found)
{
	bool undecided = h->undecided || h->seen.full;

	seen_free(&h->seen);
	if (found)
		return REORDER_NO;
	return undecided ? REORDER_UNDECIDED : REORDER_YES;
}

enum reorder_answer atomic_by_conflicts(const struct event *events, size_t n, enum serial_order order)
{
	struct hunt h = {.undecided = false};

	if (!steps_make(&h.steps, events, n) || h.steps.allocs)
		return REORDER_UNDECIDED;
	order_make(&h.order, &h.steps, order);
	seen_init(&h.seen, 1 + h.steps.threads, REORDER_STATES_MOST);
	return verdict(&h, tangles(&h, (struct tangle){0}));
}

/* ---- By view. ---- */

struct serial {
	const struct steps *steps;
	struct memory memory;
	struct seen seen;
	uint64_t end; /* positions */
};

/* Does the thread's next transaction as a whole; false if that cannot be. */
static bool transact(const struct serial *x, struct state *at, size_t t)
{
	uint64_t end = x->end;
	int i;

	do {
		if (steps_done(at->positions, t) == steps_done(end, t))
			return false;
		i = state_possible(x->steps, &x->memory, *at, t);
		if (i < 0)
			return false;
		*at = state_after(x->steps, &x->memory, *at, (size_t)i);
	} while (open_node(x->steps, at->positions, t));
	return true;
}

static bool finds_serial(struct serial *x, struct state at)
{
	if (at.positions == x->end)
		return !(x->memory.end & ~at.memory);
	if (!seen_add(&x->seen, (uint64_t[]){at.positions | STEPS_MARK, at.memory}))
		return false;
	for (size_t t = 0; t < x->steps->threads; t++) {
		struct state next = at;

		if (transact(x, &next, t) && finds_serial(x, next))
			return true;
	}
	return false;
}

/* Whether a serial trace that ends at these positions has the view. No transaction is half done there. */
static enum reorder_answer is_serial_view(
	const struct steps *s, const struct sights *g, const struct view *v, uint64_t positions)
{
	struct serial x = {.steps = s, .end = positions};
	bool found;

	memory_keep(&x.memory, g, s, v, steps_mask(s, positions));
	if (!memory_keep_last(&x.memory, g, s, v))
		return REORDER_UNDECIDED;
	seen_init(&x.seen, 2, REORDER_STATES_MOST);
	found = finds_serial(&x, (struct state){0, x.memory.start});
	seen_free(&x.seen);
	if (found)
		return REORDER_YES;
	return x.seen.full ? REORDER_UNDECIDED : REORDER_NO;
}

static uint64_t all_positions(const struct steps *s)
{
	uint64_t positions = 0;

	for (size_t t = 0; t < s->threads; t++)
		positions |= (uint64_t)(s->first[t + 1] - s->first[t]) << (8 * t);
	return positions;
}

enum reorder_answer serial_by_view(const struct event *sequence, size_t n)
{
	struct sights g;
	struct steps s;
	struct view v;

	if (!steps_make(&s, sequence, n) || !sights_make(&g, &s))
		return REORDER_UNDECIDED;
	view_recorded(&v, &g, &s);
	return is_serial_view(&s, &g, &v, all_positions(&s));
}

struct scene {
	uint64_t positions;
	struct view view;
};

enum { SCENE_WORDS = 1 + (SIGHTS_MOST + STEPS_CELLS) / 8 };

static void scene_step(struct scene *at, const struct hunt *h, size_t i)
{
	view_step(&at->view, &h->sights, &h->steps, i);
	at->positions += (uint64_t)1 << (8 * h->steps.at[i].thread);
}

static size_t cells_end(const struct sights *g)
{
	return g->written ? 64u - (size_t)__builtin_clzll(g->written) : 0;
}

static bool is_new(struct hunt *h, const struct scene *at)
{
	uint64_t key[SCENE_WORDS] = {at->positions | STEPS_MARK};
	char *bytes = (char *)(key + 1);

	memcpy(bytes, at->view.seen, h->sights.count);
	memcpy(bytes + h->sights.count, at->view.last, cells_end(&h->sights));
	return seen_add(&h->seen, key);
}

static bool ends_badly(struct hunt *h, const struct scene *at)
{
	enum reorder_answer answer;

	if (is_cut(&h->steps, at->positions))
		return true;
	answer = is_serial_view(&h->steps, &h->sights, &at->view, at->positions);
	h->undecided |= answer == REORDER_UNDECIDED;
	return answer == REORDER_NO;
}

/* Whether some reordering from here on has a view that no serial trace has, or is cut. */
static bool errs(struct hunt *h, struct scene at)
{
	bool stuck = true;

	for (int i; (i = possible_quietly(h, at.positions)) >= 0;)
		scene_step(&at, h, (size_t)i);
	if (!is_new(h, &at))
		return false;
	for (size_t t = 0; t < h->steps.threads; t++) {
		int i = possible(h, at.positions, t);
		struct scene next = at;

		if (i < 0)
			continue;
		stuck = false;
		scene_step(&next, h, (size_t)i);
		if (errs(h, next))
			return true;
	}
	return stuck && ends_badly(h, &at);
}

enum reorder_answer atomic_by_view(const struct event *events, size_t n)
{
	struct hunt h = {.undecided = false};

	if (!steps_make(&h.steps, events, n) || h.steps.allocs || !sights_make(&h.sights, &h.steps))
		return REORDER_UNDECIDED;
	order_make(&h.order, &h.steps, SERIAL_DATA);
	seen_init(&h.seen, 1 + (h.sights.count + cells_end(&h.sights) + 7) / 8, REORDER_STATES_MOST);
	return verdict(&h, errs(&h, (struct scene){0, {{0}, {0}}}));
}
