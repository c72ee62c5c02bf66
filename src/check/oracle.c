/* SPDX-License-Identifier: MIT */
/*
 * Reported: every declared block that is on a cycle of the conflict graph at the first prefix that
 * has one, and every innermost activation that another thread's event splits. Both are facts of the
 * recorded run: `observed` where the data order alone shows it, `suspected` where it takes locks or
 * other synchronisation.
 *
 * There is no paper. This is the definition in docs/traces.md and nothing else, so that it can
 * judge the checks that follow papers. It reads the raw trace and shares no code with them or with
 * the stages that make events plain for them.
 *
 * State: all events. At the end they become steps: an event, or what its predecessor still owes
 * right before it (a wait its acquire, a barrier arrival its departure). `edge` has a bit for each
 * pair of steps that one line of the definition orders, `before` is its transitive closure. Nodes
 * are numbers of blocks and of steps outside. Program order stands in `edge` for neighbours only;
 * the rest of it follows, as a thread's part in a node or an activation has no gaps.
 *
 * Everything belongs to one call of oracle_judge() or one check, and lives in its arena.
 *
 * Cost: quadratic in the events, cubic in the nodes; nothing here is meant to be fast.
 */
#include "oracle.h"

#include <string.h>

#include "base/arena.h"
#include "check/check.h"
#include "finding/finding.h"

static const size_t NOWHERE = SIZE_MAX;

struct step {
	const struct event *event; /* for an owed step, the event that owes it */
	uint64_t seq; /* of the event, or of the one that an owed step stands right before */
	thread_id thread;
	size_t previous; /* the thread's step before this one */
	size_t node;
	uint64_t acquires, releases; /* the lock, 0 for none and for re-entrant ones */
	bool shared;		     /* on its shared side */
	size_t arrives, departs;     /* the round of a barrier, from 1 */
};

/* From `first` to `last`, the steps of one thread in between included. */
struct span {
	const struct event *begin;
	size_t first, last;
	bool open;
	bool exempt; /* the start routine of a thread, or main: never expected to be atomic */
};

struct strand {
	thread_id thread;
	size_t last_step;
	const struct event *last_event;
	size_t node, blocks; /* the current node, and how many declared blocks are open */
	size_t round;	     /* of the last barrier */
	bool forked;
};

struct hold {
	thread_id thread;
	uint64_t lock;
	size_t depth;
	size_t depth_before_wait;
	bool shared;
};

struct barrier {
	uint64_t object;
	size_t round;
	uint64_t missing; /* arrivals until the round is complete */
};

struct graph {
	struct arena *arena;
	struct step *step;
	struct span *span;
	struct strand *strand;
	struct hold *hold;
	struct barrier *barrier;
	const struct event **block; /* by node: the begin of a declared block, or NULL */
	size_t steps, spans, strands, holds, barriers, nodes, rounds;
	size_t words;			 /* of a row of bits */
	uint64_t *edge[ORACLE_ORDERS];	 /* bit i of row j: step i is directly before step j */
	uint64_t *before[ORACLE_ORDERS]; /* the same, transitively */
};

/* ---- Steps: what each event means, in the order of the trace. ---- */

static struct strand *strand_of(struct graph *g, thread_id t)
{
	struct strand *s = g->strand;

	for (; s < g->strand + g->strands; s++)
		if (s->thread == t)
			return s;
	g->strands++;
	*s = (struct strand){.thread = t, .last_step = NOWHERE};
	return s;
}

static struct hold *hold_of(struct graph *g, thread_id t, uint64_t lock)
{
	struct hold *h = g->hold;

	for (; h < g->hold + g->holds; h++)
		if (h->thread == t && h->lock == lock)
			return h;
	g->holds++;
	*h = (struct hold){.thread = t, .lock = lock};
	return h;
}

/* The round that an arrival belongs to; it is complete with `parties` arrivals. */
static size_t round_of(struct graph *g, uint64_t object, uint64_t parties)
{
	struct barrier *b = g->barrier;

	while (b < g->barrier + g->barriers && b->object != object)
		b++;
	if (b == g->barrier + g->barriers) {
		g->barriers++;
		*b = (struct barrier){.object = object};
	}
	if (b->missing == 0) {
		b->round = ++g->rounds;
		b->missing = parties;
	}
	b->missing--;
	return b->round;
}

/* A new step of the strand. Outside declared blocks each is a node of its own. */
static struct step *step_new(struct graph *g, struct strand *t, const struct event *e, uint64_t seq)
{
	struct step *s = &g->step[g->steps];

	if (t->blocks == 0) {
		t->node = g->nodes++;
		g->block[t->node] = e->kind == EVENT_BEGIN ? e : NULL;
	}
	*s = (struct step){.event = e,
		.seq = seq,
		.thread = t->thread,
		.previous = t->last_step,
		.node = t->node};
	t->last_step = g->steps++;
	return s;
}

/* The acquire of a wait, or the departure from a barrier, right before the thread's next event. */
static void step_owed(struct graph *g, struct strand *t, uint64_t seq)
{
	const struct event *e = t->last_event;
	struct step *s;
	struct hold *h;

	if (!e || (e->kind != EVENT_WAIT && e->kind != EVENT_BARRIER))
		return;
	s = step_new(g, t, e, seq);
	if (e->kind == EVENT_BARRIER) {
		s->departs = t->round;
		return;
	}
	h = hold_of(g, t->thread, e->mutex);
	h->depth = h->depth_before_wait;
	s->acquires = e->mutex;
	s->shared = h->shared;
}

static void step_acquire(struct graph *g, struct step *s, const struct event *e)
{
	struct hold *h = hold_of(g, e->thread, e->object);

	if (h->depth++ > 0)
		return;
	h->shared = e->kind == EVENT_ACQUIRE_SHARED;
	s->acquires = e->object;
	s->shared = h->shared;
}

static void step_release(struct graph *g, struct step *s, const struct event *e)
{
	struct hold *h = hold_of(g, e->thread, e->object);

	if (--h->depth > 0)
		return;
	s->releases = e->object;
	s->shared = h->shared;
}

static void step_wait(struct graph *g, struct step *s, const struct event *e)
{
	struct hold *h = hold_of(g, e->thread, e->mutex);

	h->depth_before_wait = h->depth;
	h->depth = 0;
	s->releases = e->mutex;
	s->shared = h->shared;
}

static void span_open(struct graph *g, const struct strand *t, const struct event *e)
{
	g->span[g->spans++] = (struct span){.begin = e,
		.first = t->last_step,
		.last = t->last_step,
		.open = true,
		.exempt = e->kind == EVENT_ENTER && t->forked && !t->last_event};
}

/* Closes the thread's youngest open block, or its function and what a lenient run left above it. */
static void span_close(struct graph *g, const struct event *e, enum event_kind sort, size_t last)
{
	for (struct span *s = g->span + g->spans; s-- > g->span;) {
		if (!s->open || s->begin->thread != e->thread || s->begin->kind != sort)
			continue;
		s->open = false;
		s->last = last;
		if (sort == EVENT_BEGIN || !e->object || s->begin->object == e->object)
			return;
	}
}

static void step_mean(struct graph *g, struct strand *t, struct step *s, const struct event *e)
{
	switch (e->kind) {
	case EVENT_ACQUIRE:
	case EVENT_ACQUIRE_SHARED: step_acquire(g, s, e); break;
	case EVENT_RELEASE:
	case EVENT_RELEASE_SHARED: step_release(g, s, e); break;
	case EVENT_WAIT: step_wait(g, s, e); break;
	case EVENT_BARRIER: s->arrives = t->round = round_of(g, e->object, e->count); break;
	case EVENT_FORK: strand_of(g, (thread_id)e->object)->forked = true; break;
	case EVENT_ENTER: span_open(g, t, e); break;
	case EVENT_EXIT: span_close(g, e, EVENT_ENTER, t->last_step); break;
	case EVENT_BEGIN:
		t->blocks++;
		span_open(g, t, e);
		break;
	case EVENT_END:
		t->blocks--;
		span_close(g, e, EVENT_BEGIN, t->last_step);
		break;
	default: break;
	}
}

static void steps_make(struct graph *g, const struct event *events, size_t n)
{
	for (const struct event *e = events; e < events + n; e++) {
		struct strand *t = strand_of(g, e->thread);

		step_owed(g, t, e->seq);
		step_mean(g, t, step_new(g, t, e, e->seq), e);
		t->last_event = e;
	}
	for (struct span *s = g->span; s < g->span + g->spans; s++)
		if (s->open)
			s->last = strand_of(g, s->begin->thread)->last_step;
}

/* ---- Edges: which steps one line of the definition orders. ---- */

static bool writes(const struct event *e)
{
	return e->kind == EVENT_WRITE || e->kind == EVENT_ATOMIC_STORE ||
	       e->kind == EVENT_ATOMIC_RMW;
}

static bool touches(const struct event *e, uint64_t byte)
{
	uint64_t size = e->flags & EVENT_SIZED ? e->size : 1;

	return byte >= e->object && byte - e->object < size;
}

static bool is_alloc(const struct event *e)
{
	return e->kind == EVENT_ALLOC && e->flags & EVENT_ADDRESSED;
}

/* Whether both access the byte, in one life of it. */
static bool share_byte(const struct event *e, const struct event *f, uint64_t byte)
{
	if (!touches(e, byte) || !touches(f, byte))
		return false;
	for (const struct event *k = e + 1; k < f; k++)
		if (is_alloc(k) && byte >= k->object && byte - k->object < k->count)
			return false;
	return true;
}

/* The lowest byte that they share is the lowest that both touch, or the first behind an alloc. */
static bool share_bytes(const struct event *e, const struct event *f)
{
	uint64_t lowest = e->object > f->object ? e->object : f->object;

	if (!touches(e, lowest) || !touches(f, lowest))
		return false;
	if (share_byte(e, f, lowest))
		return true;
	for (const struct event *k = e + 1; k < f; k++)
		if (is_alloc(k) && share_byte(e, f, k->object + k->count))
			return true;
	return false;
}

static bool conflict(const struct event *e, const struct event *f)
{
	if (!event_is_access(e->kind) || !event_is_access(f->kind) || (!writes(e) && !writes(f)))
		return false;
	if ((e->flags & EVENT_ADDRESSED) != (f->flags & EVENT_ADDRESSED))
		return false;
	if (e->flags & EVENT_ADDRESSED)
		return share_bytes(e, f);
	return e->object == f->object;
}

static bool is_of_or_joins(const struct step *s, uint64_t thread)
{
	return s->thread == thread || (s->event->kind == EVENT_JOIN && s->event->object == thread);
}

/* Whether step i, which stands before step j, is before it by data. */
static bool data_orders(const struct graph *g, size_t i, size_t j)
{
	const struct step *s = &g->step[i], *t = &g->step[j];

	if (s->thread == t->thread)
		return t->previous == i;
	if (s->event->kind == EVENT_FORK && t->event->kind == EVENT_JOIN &&
		s->event->object == t->event->object)
		return true;
	if (s->event->kind == EVENT_FORK && is_of_or_joins(t, s->event->object))
		return true;
	if (t->event->kind == EVENT_JOIN && t->event->object == s->thread)
		return true;
	return conflict(s->event, t->event);
}

static bool sync_orders(const struct graph *g, size_t i, size_t j)
{
	const struct step *s = &g->step[i], *t = &g->step[j];

	if (s->thread == t->thread)
		return false;
	if (s->releases && s->releases == t->acquires)
		return !(s->shared && t->shared);
	if (s->arrives && s->arrives == t->departs)
		return true;
	return s->event->kind == EVENT_SEM_POST && t->event->kind == EVENT_SEM_WAIT &&
	       s->event->object == t->event->object;
}

/* ---- Rows of bits. ---- */

static uint64_t *row(const struct graph *g, uint64_t *matrix, size_t j)
{
	return matrix + j * g->words;
}

static bool row_has(const uint64_t *r, size_t i)
{
	return r[i / 64] >> i % 64 & 1;
}

static void row_add(uint64_t *r, size_t i)
{
	r[i / 64] |= (uint64_t)1 << i % 64;
}

/* The first element from i on, or NOWHERE. */
static size_t row_next(const struct graph *g, const uint64_t *r, size_t i)
{
	for (size_t w = i / 64; w < g->words; w++) {
		uint64_t bits = w == i / 64 ? r[w] >> i % 64 << i % 64 : r[w];

		if (bits)
			return w * 64 + (size_t)__builtin_ctzll(bits);
	}
	return NOWHERE;
}

static void edges_make(struct graph *g)
{
	for (size_t j = 0; j < g->steps; j++)
		for (size_t i = 0; i < j; i++) {
			bool data = data_orders(g, i, j);

			if (data)
				row_add(row(g, g->edge[ORACLE_DATA], j), i);
			if (data || sync_orders(g, i, j))
				row_add(row(g, g->edge[ORACLE_FULL], j), i);
		}
}

/* Edges only lead forward, so the row of a step is complete before a later step asks for it. */
static void closure_make(struct graph *g, enum oracle_order order)
{
	for (size_t j = 0; j < g->steps; j++) {
		const uint64_t *direct = row(g, g->edge[order], j);
		uint64_t *all = row(g, g->before[order], j);

		for (size_t i = row_next(g, direct, 0); i != NOWHERE;
			i = row_next(g, direct, i + 1)) {
			row_add(all, i);
			for (size_t w = 0; w < g->words; w++)
				all[w] |= row(g, g->before[order], i)[w];
		}
	}
}

/* Every event makes at most two steps, two nodes, and one of the rest. */
static struct graph *graph_new(struct arena *a, size_t n)
{
	struct graph *g = arena_alloc(a, sizeof *g);

	g->arena = a;
	g->step = arena_alloc(a, 2 * n * sizeof *g->step);
	g->block = arena_alloc(a, 2 * n * sizeof *g->block);
	g->span = arena_alloc(a, n * sizeof *g->span);
	g->strand = arena_alloc(a, n * sizeof *g->strand);
	g->hold = arena_alloc(a, n * sizeof *g->hold);
	g->barrier = arena_alloc(a, n * sizeof *g->barrier);
	return g;
}

static void graph_order(struct graph *g)
{
	g->words = g->steps / 64 + 1;
	for (int o = 0; o < ORACLE_ORDERS; o++) {
		g->edge[o] = arena_alloc(g->arena, g->steps * g->words * sizeof *g->edge[o]);
		g->before[o] = arena_alloc(g->arena, g->steps * g->words * sizeof *g->before[o]);
	}
	edges_make(g);
	for (int o = 0; o < ORACLE_ORDERS; o++)
		closure_make(g, o);
}

/* ---- Serializability of the declared blocks. ---- */

/* Warshall's algorithm: bit k of after[i] becomes set if node k can be reached from node i. */
static bool has_cycle(uint64_t *after, size_t nodes)
{
	for (size_t k = 0; k < nodes; k++)
		for (size_t i = 0; i < nodes; i++)
			if (after[i] >> k & 1)
				after[i] |= after[k];
	for (size_t k = 0; k < nodes; k++)
		if (after[k] >> k & 1)
			return true;
	return false;
}

/* Whether the first `prefix` steps are not serializable. */
static bool prefix_bad(const struct graph *g, enum oracle_order order, size_t prefix)
{
	uint64_t after[ORACLE_NODES_MOST] = {0};

	for (size_t j = 0; j < prefix; j++) {
		const uint64_t *r = row(g, g->edge[order], j);
		size_t to = g->step[j].node;

		for (size_t i = row_next(g, r, 0); i != NOWHERE; i = row_next(g, r, i + 1))
			if (g->step[i].node != to)
				after[g->step[i].node] |= (uint64_t)1 << to;
	}
	return has_cycle(after, g->nodes);
}

/*
 * The length in steps of the shortest bad prefix, or 0. More steps only add edges, so a prefix that
 * contains a bad one is bad.
 */
static size_t prefix_first_bad(const struct graph *g, enum oracle_order order)
{
	size_t good = 0, bad = g->steps;

	if (!prefix_bad(g, order, bad))
		return 0;
	while (bad - good > 1) {
		size_t middle = good + (bad - good) / 2;

		if (prefix_bad(g, order, middle))
			bad = middle;
		else
			good = middle;
	}
	return bad;
}

/* ---- Activations. ---- */

/*
 * Whether an x of another thread is after some step of the span, which means after the first, and
 * before some step of it, which means before the last.
 */
static bool piece_split(const struct graph *g, enum oracle_order order, const struct span *s)
{
	for (size_t x = s->first + 1; x < s->last; x++)
		if (g->step[x].thread != s->begin->thread &&
			row_has(row(g, g->before[order], x), s->first) &&
			row_has(row(g, g->before[order], s->last), x))
			return true;
	return false;
}

/* Whether a function is not expected to be atomic across the step. What is owed comes after it. */
static bool cuts(const struct graph *g, size_t step)
{
	const struct event *e = g->step[step].event;

	return e->seq == g->step[step].seq && (e->kind == EVENT_FORK || e->kind == EVENT_JOIN ||
		e->kind == EVENT_WAIT || e->kind == EVENT_BARRIER);
}

/* The first piece of the span, from the end, that is split; `piece` becomes it. */
static bool span_split(
	const struct graph *g, enum oracle_order order, const struct span *s, struct span *piece)
{
	size_t i = s->last;

	*piece = *s;
	if (s->exempt || s->begin->kind == EVENT_BEGIN)
		return !s->exempt && piece_split(g, order, piece);
	while (i != NOWHERE && i >= s->first) {
		piece->last = i;
		for (; i != NOWHERE && i >= s->first && !cuts(g, i); i = g->step[i].previous)
			piece->first = i;
		if (piece->first <= piece->last && piece->last != i && piece_split(g, order, piece))
			return true;
		if (i != NOWHERE)
			i = g->step[i].previous;
	}
	return false;
}

static void activation_describe(
	const struct graph *g, const struct span *s, struct oracle_activation *a)
{
	struct span piece;

	*a = (struct oracle_activation){
		.begin = s->begin->seq,
		.end = g->step[s->last].seq,
		.thread = s->begin->thread,
		.code = (code_id)s->begin->object,
		.site = s->begin->site,
		.declared = s->begin->kind == EVENT_BEGIN,
	};
	for (int o = 0; o < ORACLE_ORDERS; o++)
		a->split[o] = span_split(g, o, s, &piece);
}

/* Activations stand in the order of their begins: those within `a` come after it. */
static bool is_innermost(
	const struct oracle_verdict *v, const struct oracle_activation *a, enum oracle_order o)
{
	const struct oracle_activation *end = v->activation + v->activations;

	for (const struct oracle_activation *b = a + 1; b < end; b++)
		if (b->thread == a->thread && b->end <= a->end && b->split[o])
			return false;
	return a->split[o];
}

static void activations_judge(const struct graph *g, struct oracle_verdict *v)
{
	v->activations = g->spans;
	v->activation = arena_alloc(g->arena, g->spans * sizeof *v->activation);
	for (size_t i = 0; i < g->spans; i++)
		activation_describe(g, &g->span[i], &v->activation[i]);
	for (size_t i = 0; i < g->spans; i++)
		for (int o = 0; o < ORACLE_ORDERS; o++)
			v->activation[i].innermost[o] = is_innermost(v, &v->activation[i], o);
}

void oracle_judge(const struct event *events, size_t n, struct arena *a, struct oracle_verdict *v)
{
	struct graph *g;

	*v = (struct oracle_verdict){.refused = n > ORACLE_EVENTS_MOST};
	if (v->refused || n == 0)
		return;
	v->graph = g = graph_new(a, n);
	steps_make(g, events, n);
	v->nodes = g->nodes;
	v->refused = g->nodes > ORACLE_NODES_MOST;
	if (v->refused)
		return;
	graph_order(g);
	for (int o = 0; o < ORACLE_ORDERS; o++) {
		size_t bad = prefix_first_bad(g, o);

		v->first_bad[o] = bad ? g->step[bad - 1].seq : 0;
	}
	activations_judge(g, v);
}

/* The step of the event itself: what is owed before it has the same seq. */
static size_t step_of(const struct graph *g, uint64_t seq)
{
	size_t i = g->steps;

	while (i > 0 && g->step[i - 1].seq != seq)
		i--;
	return i - 1;
}

bool oracle_before(const struct oracle_verdict *v, enum oracle_order order, uint64_t e, uint64_t f)
{
	return row_has(
		row(v->graph, v->graph->before[order], step_of(v->graph, f)), step_of(v->graph, e));
}

/* ---- Reasons: a path that leaves a group of steps and comes back to it. ---- */

struct hop {
	size_t from, to; /* steps */
};

/*
 * Steps are put into groups: the nodes, or one activation and every other step for itself. A search
 * goes backwards from step `b` of the group `home`, breadth first, to an earlier step of it.
 */
struct search {
	const struct graph *g;
	enum oracle_order order;
	size_t limit; /* steps from here on do not count */
	const size_t *group;
	size_t home, b;
	struct hop *onward; /* by group: from it towards b; {0, 0} while it is not reached */
	size_t *queue, queued;
	struct hop found; /* from home to the first other group */
};

/* Goes back over the edges into step j. True at an edge that comes from home, from before b. */
static bool search_back(struct search *q, size_t j)
{
	const uint64_t *r = row(q->g, q->g->edge[q->order], j);

	for (size_t i = row_next(q->g, r, 0); i != NOWHERE; i = row_next(q->g, r, i + 1)) {
		size_t from = q->group[i];

		q->found = (struct hop){i, j};
		if (from == q->home && j != q->b && i < q->b)
			return true;
		if (from == q->home || from == q->group[j] || q->onward[from].to)
			continue;
		q->onward[from] = q->found;
		q->queue[q->queued++] = from;
	}
	return false;
}

static bool search_from(struct search *q, size_t b)
{
	q->b = b;
	q->queued = 0;
	memset(q->onward, 0, (q->g->steps + 1) * sizeof *q->onward);
	if (search_back(q, b))
		return true;
	for (size_t k = 0; k < q->queued; k++)
		for (size_t j = 0; j < q->limit; j++)
			if (q->group[j] == q->queue[k] && search_back(q, j))
				return true;
	return false;
}

/* Looks for the earliest step of home that a path comes back to. */
static bool search_run(struct search *q)
{
	struct arena *a = q->g->arena;

	q->onward = arena_alloc(a, (q->g->steps + 1) * sizeof *q->onward);
	q->queue = arena_alloc(a, (q->g->steps + 1) * sizeof *q->queue);
	for (size_t b = 0; b < q->limit; b++)
		if (q->group[b] == q->home && search_from(q, b))
			return true;
	return false;
}

static struct access access_of(const struct step *s)
{
	const struct event *e = s->event;

	return (struct access){.kind = e->kind,
		.flags = e->flags,
		.thread = e->thread,
		.object = e->object,
		.value = e->value,
		.size = e->size,
		.site = e->site,
		.stack = e->stack,
		.seq = s->seq};
}

/* Program order goes without saying, and never leads out of home or back before it. */
static void link_add(const struct search *q, struct hop h, struct link *path, size_t *links)
{
	const struct step *from = &q->g->step[h.from], *to = &q->g->step[h.to];

	if (from->thread == to->thread)
		return;
	path[(*links)++] = (struct link){.from = access_of(from),
		.to = access_of(to),
		.data = row_has(row(q->g, q->g->edge[ORACLE_DATA], h.to), h.from)};
}

/* The path that a successful search has found, from home to home. */
static size_t search_path(const struct search *q, struct link **path)
{
	size_t links = 0;
	struct hop h = q->found;

	*path = arena_alloc(q->g->arena, (q->g->steps + 1) * sizeof **path);
	link_add(q, h, *path, &links);
	while (h.to != q->b) {
		h = q->onward[q->group[h.to]];
		link_add(q, h, *path, &links);
	}
	return links;
}

/* ---- The check. ---- */

struct oracle {
	struct run *run;
	struct event *event;
	size_t count, capacity;
	struct oracle_verdict verdict;
};

static void *oracle_start(struct run *run)
{
	struct oracle *o = arena_alloc(run->arena, sizeof *o);

	o->run = run;
	return o;
}

/* One event more than it takes on is enough to know that it refuses. */
static void oracle_raw(void *check, const struct event *e)
{
	struct oracle *o = check;

	if (o->count > ORACLE_EVENTS_MOST)
		return;
	o->event = arena_reserve(o->run->arena, o->event, &o->capacity, o->count, sizeof *o->event);
	o->event[o->count++] = *e;
}

/* A block without a label goes by the function that it is in. */
static code_id code_of(const struct graph *g, const struct event *begin)
{
	const struct span *best = NULL;

	if (begin->object)
		return (code_id)begin->object;
	for (const struct span *s = g->span; s < g->span + g->spans; s++)
		if (s->begin->kind == EVENT_ENTER && s->begin->thread == begin->thread &&
			s->begin < begin && (s->open || g->step[s->last].event > begin))
			best = s;
	return best ? (code_id)best->begin->object : 0;
}

static struct block block_from(const struct graph *g, const struct event *begin)
{
	return (struct block){.code = code_of(g, begin),
		.site = begin->site,
		.thread = begin->thread,
		.seq = begin->seq,
		.declared = begin->kind == EVENT_BEGIN};
}

static void report(
	struct oracle *o, const struct search *q, struct block block, struct evidence evidence)
{
	struct link *path;
	struct finding f = {.block = block, .links = search_path(q, &path)};

	f.path = path;
	f.verdict = q->order == ORACLE_DATA ? VERDICT_OBSERVED : VERDICT_SUSPECTED;
	evidence.check = check_oracle.name;
	findings_add(o->run->findings, &f, evidence);
}

/* Whether the node is to blame for the first cycle: there is a way out of it before the way in. */
static bool cycle_through(
	struct search *q, const struct graph *g, size_t node, enum oracle_order order)
{
	size_t *group = arena_alloc(g->arena, g->steps * sizeof *group);

	for (size_t i = 0; i < g->steps; i++)
		group[i] = g->step[i].node;
	*q = (struct search){.g = g, .order = order, .group = group, .home = node};
	q->limit = prefix_first_bad(g, order);
	return search_run(q);
}

/* A cycle of data is the better reason; but the run was bad as soon as there was any. */
static void report_cycle(struct oracle *o, const struct graph *g, size_t node)
{
	const uint64_t *first_bad = o->verdict.first_bad;
	struct search data, full;
	bool by_data = cycle_through(&data, g, node, ORACLE_DATA);
	bool by_any = cycle_through(&full, g, node, ORACLE_FULL);

	if (by_data || by_any)
		report(o, by_data ? &data : &full, block_from(g, g->block[node]),
			(struct evidence){.kind = "cycle",
				.seq = first_bad[by_any ? ORACLE_FULL : ORACLE_DATA]});
}

static void report_split(
	struct oracle *o, const struct graph *g, const struct span *s, enum oracle_order order)
{
	struct span piece;
	size_t *group = arena_alloc(g->arena, g->steps * sizeof *group);
	struct search q = {
		.g = g, .order = order, .limit = g->steps, .group = group, .home = g->steps};

	for (size_t i = 0; i < g->steps; i++)
		group[i] = i;
	span_split(g, order, s, &piece);
	for (size_t i = piece.last; i != NOWHERE && i >= piece.first; i = g->step[i].previous)
		group[i] = q.home;
	if (search_run(&q))
		report(o, &q, block_from(g, s->begin),
			(struct evidence){.kind = "split", .seq = g->step[q.b].seq});
}

static void report_splits(struct oracle *o, const struct graph *g)
{
	for (size_t i = 0; i < o->verdict.activations; i++) {
		const bool *innermost = o->verdict.activation[i].innermost;

		if (innermost[ORACLE_DATA])
			report_split(o, g, &g->span[i], ORACLE_DATA);
		else if (innermost[ORACLE_FULL])
			report_split(o, g, &g->span[i], ORACLE_FULL);
	}
}

static void oracle_finish(void *check)
{
	struct oracle *o = check;
	const struct graph *g;

	oracle_judge(o->event, o->count, o->run->arena, &o->verdict);
	g = o->verdict.graph;
	if (o->verdict.refused || !g)
		return;
	for (size_t k = 0; k < g->nodes; k++)
		if (g->block[k])
			report_cycle(o, g, k);
	report_splits(o, g);
}

bool oracle_refuses(const void *check)
{
	const struct oracle *o = check;

	return o->verdict.refused;
}

const struct check check_oracle = {
	.name = "oracle",
	.summary = "brute force on small traces, the judge of the other checks",
	.single = true,
	.start = oracle_start,
	.finish = oracle_finish,
	.on = {[ON_RAW] = oracle_raw},
};
