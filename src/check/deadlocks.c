/* SPDX-License-Identifier: MIT */
/*
 * deadlocks: which threads could wait for each other's locks in a circle, in another schedule?
 *
 * Reported, as a hazard and not as a finding, is a circle of acquires that this run made one after another: each
 * thread holds a lock that the thread before it wants. It is possible as far as forks, joins, barriers and other locks
 * go; data, conditions and semaphores may still exclude it. A run of straight-line code whose locks have no such circle
 * has no deadlock by locks in any schedule.
 *
 * Goodlock (Havelund, SPIN 2000) with gate locks, and with thread periods as in Wang and Stoller (IEEE TSE 2006,
 * section 2), for circles of any length (Agarwal, Wang and Stoller, PADTAD 2005). A circle is none if two of its acquires
 *   [SAME THREAD]  are by one thread;
 *   [GATE LOCK]    were made with a common lock held, unless both held its shared side;
 *   [PERIOD]       are in periods that cannot run at the same time;
 *   [SHARED]       or if one waits for the shared side of a lock whose shared side the next one holds.
 * Departures: a wait's acquire of its mutex counts as any other; readers are not taken to wait for waiting writers.
 *
 * State: the edges "holds m, wants n" of the lock-order graph, each with its thread, period and all locks held. Equal
 * edges are one, with the places of the first. Circles are searched for after the last event, short ones first; an
 * edge that is on no circle of the graph is left out. The search tries STEPS_MOST edges and then gives up, which the
 * set of findings is told: then nobody has looked for deadlocks.
 *
 * Everything belongs to the run and is touched by its handlers only.
 *
 * Cost: one look-up for each lock held, at acquires that are not outermost, and nothing at any other event.
 */
#include "check/check.h"

#include "base/arena.h"
#include "base/hash.h"
#include "check/path.h"

enum { STEPS_MOST = 1 << 22 };

struct edge {
	sync_id held, wanted;
	bool held_shared, wanted_shared;
	uint32_t line;
	lockset_id all, exclusive; /* all locks held: either side, and the exclusive one */
	period_id period;
	struct mark holds, wants; /* the acquires */
	/* The next one with the same hash, lock held, lock wanted; 0 for none. */
	uint32_t next_equal, next_from, next_to;
	bool out;                 /* it is on no circle */
};

/* A lock as a node of the graph. */
struct node {
	uint32_t from, to; /* the first edge that starts here, that leads here; 0 for none */
	uint32_t out, in;  /* how many there are that may be on a circle */
};

struct deadlocks {
	struct run *run;
	struct seg edge; /* struct edge, from 1 */
	uint32_t count;
	struct map by_hash;
	struct seg node; /* struct node by lock */
	uint32_t *circle; /* edges; while pruning, locks that are on no circle */
	size_t length, capacity;
	uint64_t steps;
	bool deeper; /* a search was stopped by the length that it was for */
};

static struct edge *edge_at(struct deadlocks *d, uint32_t i)
{
	return seg_at(&d->edge, i, sizeof(struct edge));
}

static struct node *node_at(struct deadlocks *d, sync_id m)
{
	return seg_at(&d->node, m, sizeof(struct node));
}

/* Edges. */

static uint64_t hash(const struct edge *e)
{
	uint64_t locks = (uint64_t)e->held << 32 | e->wanted, sets = (uint64_t)e->all << 32 | e->exclusive;

	return hash_pair(hash_pair(locks, sets), hash_pair((uint64_t)e->line << 32 | e->period, e->wanted_shared));
}

/* Whether the held lock was held shared is in the sets. */
static bool is_equal(const struct edge *a, const struct edge *b)
{
	return a->held == b->held && a->wanted == b->wanted && a->wanted_shared == b->wanted_shared &&
	       a->line == b->line && a->all == b->all && a->exclusive == b->exclusive && a->period == b->period;
}

static void edge_add(struct deadlocks *d, const struct edge *e)
{
	uint32_t *first = map_put(&d->by_hash, hash(e));
	struct node *from = node_at(d, e->held), *to = node_at(d, e->wanted);
	struct edge *new;

	for (uint32_t i = *first; i; i = edge_at(d, i)->next_equal)
		if (is_equal(edge_at(d, i), e))
			return;
	new = edge_at(d, ++d->count);
	*new = *e;
	new->next_equal = *first;
	new->next_from = from->from;
	new->next_to = to->to;
	*first = from->from = to->to = d->count;
	from->out++;
	to->in++;
}

static void deadlocks_acquire(void *self, const struct event *e)
{
	struct deadlocks *d = self;
	const struct held *held = run_held(d->run, e->line);

	for (size_t i = 0; i < held->count; i++)
		edge_add(d, &(struct edge){
			.held = held->at[i].lock,
			.wanted = (sync_id)e->object,
			.held_shared = held->at[i].shared,
			.wanted_shared = e->kind == EVENT_ACQUIRE_SHARED,
			.line = e->line,
			.all = held->all,
			.exclusive = held->exclusive,
			.period = period_now(&d->run->periods, e->line),
			.holds = held->at[i].acquire,
			.wants = mark_of(e),
		});
}

/* Circles. */

/* [SAME THREAD], [GATE LOCK], [PERIOD]: whether both acquires can be waiting at the same time. */
static bool can_meet(struct deadlocks *d, const struct edge *a, const struct edge *b)
{
	struct locksets *s = &d->run->held.locksets;

	return a->line != b->line && lockset_disjoint(s, a->all, b->exclusive) &&
	       lockset_disjoint(s, a->exclusive, b->all) && period_concurrent(&d->run->periods, a->period, b->period);
}

/* [SHARED]: whether a waits while b holds what it wants. */
static bool waits_for(const struct edge *a, const struct edge *b)
{
	return a->wanted == b->held && !(a->wanted_shared && b->held_shared);
}

static void report(struct deadlocks *d)
{
	struct access *at = arena_alloc(d->run->arena, 2 * d->length * sizeof *at);
	struct hazard h = {.kind = HAZARD_DEADLOCK, .at = at, .count = 2 * d->length, .since = UINT64_MAX};

	for (size_t i = 0; i < d->length; i++) {
		const struct edge *e = edge_at(d, d->circle[i]);

		at[2 * i] = path_access(d->run, &e->holds, e->held);
		at[2 * i + 1] = path_access(d->run, &e->wants, e->wanted);
		if (h.since > at[2 * i].seq)
			h.since = at[2 * i].seq;
		if (h.until < at[2 * i + 1].seq)
			h.until = at[2 * i + 1].seq;
	}
	findings_hazard(d->run->findings, &h);
	arena_recycle(d->run->arena, at, 2 * d->length * sizeof *at);
}

static void push(struct deadlocks *d, uint32_t edge)
{
	d->circle = arena_reserve(d->run->arena, d->circle, &d->capacity, d->length, sizeof *d->circle);
	d->circle[d->length++] = edge;
}

/* Whether the edge can go on from the circle's last. A circle starts with its lowest line, so each is found once. */
static bool goes_on(struct deadlocks *d, const struct edge *e)
{
	if (e->out || e->line <= edge_at(d, d->circle[0])->line ||
		!waits_for(edge_at(d, d->circle[d->length - 1]), e))
		return false;
	for (size_t i = 0; i < d->length; i++)
		if (!can_meet(d, edge_at(d, d->circle[i]), e))
			return false;
	return true;
}

static bool is_closed(struct deadlocks *d)
{
	return waits_for(edge_at(d, d->circle[d->length - 1]), edge_at(d, d->circle[0]));
}

/*
 * Takes the next edge that goes on, from candidate `i` of the chain on, or drops the last one and goes on behind it.
 * Returns the next candidate.
 */
static uint32_t step(struct deadlocks *d, uint32_t i, size_t most)
{
	while (i && d->steps < STEPS_MOST && !goes_on(d, edge_at(d, i))) {
		i = edge_at(d, i)->next_from;
		d->steps++;
	}
	if (!i || d->steps >= STEPS_MOST)
		return edge_at(d, d->circle[--d->length])->next_from;
	d->steps++;
	push(d, i);
	if (d->length == most) {
		d->deeper = true;
		if (is_closed(d))
			report(d);
		d->length--;
		return edge_at(d, i)->next_from;
	}
	return node_at(d, edge_at(d, i)->wanted)->from;
}

/* All circles of `most` edges that start with this one. */
static void search(struct deadlocks *d, uint32_t first, size_t most)
{
	uint32_t i = node_at(d, edge_at(d, first)->wanted)->from;

	d->length = 0;
	push(d, first);
	while (d->length)
		i = step(d, i, most);
}

/* A lock that no edge leads to, or from, is on no circle; without its edges others may not be either. */

static void leave_out(struct deadlocks *d, struct edge *e)
{
	if (e->out)
		return;
	e->out = true;
	if (--node_at(d, e->held)->out == 0)
		push(d, e->held);
	if (--node_at(d, e->wanted)->in == 0)
		push(d, e->wanted);
}

static void prune(struct deadlocks *d)
{
	for (uint32_t i = 1; i <= d->count; i++)
		if (!node_at(d, edge_at(d, i)->held)->in || !node_at(d, edge_at(d, i)->wanted)->out)
			leave_out(d, edge_at(d, i));
	while (d->length) {
		sync_id m = d->circle[--d->length];

		for (uint32_t i = node_at(d, m)->from; i; i = edge_at(d, i)->next_from)
			leave_out(d, edge_at(d, i));
		for (uint32_t i = node_at(d, m)->to; i; i = edge_at(d, i)->next_to)
			leave_out(d, edge_at(d, i));
	}
}

static void deadlocks_finish(void *self)
{
	struct deadlocks *d = self;

	prune(d);
	d->deeper = true;
	for (size_t most = 2; d->deeper && d->steps < STEPS_MOST; most++) {
		d->deeper = false;
		for (uint32_t i = 1; i <= d->count && d->steps < STEPS_MOST; i++)
			if (!edge_at(d, i)->out)
				search(d, i, most);
	}
	d->run->findings->looked[HAZARD_DEADLOCK] = d->steps < STEPS_MOST;
	findings_limit(d->run->findings, "deadlocks: searches that were not finished", d->steps >= STEPS_MOST);
}

static void *deadlocks_start(struct run *run)
{
	struct deadlocks *d = arena_alloc(run->arena, sizeof *d);

	d->run = run;
	seg_init(&d->edge, run->arena, sizeof(struct edge));
	seg_init(&d->node, run->arena, sizeof(struct node));
	map_init(&d->by_hash, run->arena);
	return d;
}

const struct check check_deadlocks = {
	.name = "deadlocks",
	.summary = "locks taken in orders that could block each other: likewise",
	.needs = NEED_HELD | NEED_PERIODS,
	.start = deadlocks_start,
	.finish = deadlocks_finish,
	.on = {[ON_ACQUIRE] = deadlocks_acquire},
};
