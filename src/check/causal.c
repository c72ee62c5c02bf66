/* SPDX-License-Identifier: MIT */
/*
 * causal: which activations of this run were split, every function and declared block at once?
 *
 * Reported is an activation that holds events a and b such that an event x of another thread is after a and before b
 * in the run's order (docs/traces.md): no equivalent run has the activation in one piece, whatever is expected of the
 * others. Of the open activations that hold a and b the innermost is named. Data order: `observed`, with a, x, b
 * as the witness. Full order only: `suspected`, no data conflict was seen.
 *
 * The notion is causal atomicity (Farzan and Madhusudan, CAV 2006), per block; deciding it for all open activations
 * in one pass, without a list of blocks, is ours. A cycle that needs two blocks to be whole at a time is not seen
 * here: that is aerodrome's and velodrome's business.
 *
 * State: the vector clock C[t] of each line, in event numbers, for the data and for the full order. b joins what an
 * event (u, s) of another line had seen; k = what it had seen of t is the latest possible a, and the innermost open
 * activation that had begun by k is split. What u had seen *by s* is asked of u's history: for each pair of lines a
 * step function, of which only those steps are kept that an open activation can tell apart. So variables and locks
 * keep marks and no clocks, and nothing has to be done when an activation ends.
 *   known[t][v]          C[t][v]
 *   steps[t][v]          (since, seen): from its event `since` on, t had seen v's event `seen`; both increase
 * A step is not added when the one before lies in the same innermost open activation of v: whoever asks will
 * get the same answer from the earlier one.
 *
 * Everything belongs to the run and is touched by its handlers only.
 *
 * Cost: an access whose predecessor is known, one comparison in each order. Otherwise linear in the lines. Memory: a
 * cache line a variable, a word a pair of lines, and at most as many steps a pair as v has open activations.
 */
#include "check/check.h"

#include "base/arena.h"
#include "check/path.h"
#include "state/last.h"

struct step {
	uint64_t since, seen;
	struct hop hop; /* by which it was learned */
};

/* The steps of one line about another, oldest first. */
struct steps {
	struct step *at;
	size_t count, capacity;
};

/*
 * What one line knows, by line. The newest steps lie in arrays of their own, which is all that most joins
 * look at.
 */
struct row {
	uint64_t *known;
	uint64_t *since, *seen; /* of the newest step, 0 if there is none */
	struct steps *steps;
	size_t capacity;  /* of all four */
	uint64_t changed; /* the line's event at which it last learned of another line */
};

struct order {
	struct seg row;
};

struct causal {
	struct run *run;
	struct arena *arena;
	struct order data, full;
	struct seg variable, lock, semaphore;
	struct path path;
};

static struct row *row_at(struct order *o, uint32_t t)
{
	return seg_at(&o->row, t, sizeof(struct row));
}

static void *grow(struct causal *c, void *array, size_t old, size_t want, size_t element)
{
	return arena_grow(c->arena, array, old * element, want * element);
}

static void row_reserve(struct causal *c, struct row *r, uint32_t v)
{
	size_t old = r->capacity, want = old ? old : 8;

	while (want <= v)
		want *= 2;
	if (want == old)
		return;
	r->known = grow(c, r->known, old, want, sizeof *r->known);
	r->since = grow(c, r->since, old, want, sizeof *r->since);
	r->seen = grow(c, r->seen, old, want, sizeof *r->seen);
	r->steps = grow(c, r->steps, old, want, sizeof *r->steps);
	r->capacity = want;
}

/* The step that held when the line was at its event s, or NULL. */
static const struct step *step_by(const struct steps *w, uint64_t s)
{
	size_t i = w->count;

	while (i && w->at[i - 1].since > s)
		i--;
	return i ? &w->at[i - 1] : NULL;
}

/* What the row's line had seen of v by its event s. */
static inline uint64_t seen_by(const struct row *r, uint32_t v, uint64_t s)
{
	const struct step *step;

	if (__builtin_expect(r->since[v] <= s, 1))
		return r->seen[v];
	step = step_by(&r->steps[v], s);
	return step ? step->seen : 0;
}

/* Drops the steps that no open activation of v tells from the one before. */
static void compact(struct steps *w, const struct activations *open)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->count; i++) {
		const struct activation *a = activations_holding(open, w->at[i].seen);

		if (a && !(kept && w->at[kept - 1].seen >= a->begin))
			w->at[kept++] = w->at[i];
	}
	w->count = kept;
}

/* Line t, at its event `now`, learns that v's event k, which is news, came before. */
static void learn(struct causal *c, struct row *t, uint32_t v, uint64_t k, uint64_t now, const struct hop *hop)
{
	struct steps *w = &t->steps[v];
	const struct activations *open = run_open(c->run, v);
	const struct activation *a;

	t->known[v] = k;
	t->changed = now;
	a = activations_holding(open, k);
	if (!a || t->seen[v] >= a->begin)
		return;
	if (w->count == w->capacity)
		compact(w, open);
	w->at = arena_reserve(c->arena, w->at, &w->capacity, w->count, sizeof *w->at);
	w->at[w->count++] = (struct step){now, k, *hop};
	t->since[v] = now;
	t->seen[v] = k;
}

/*
 * Joins into e's line what the hop's source had seen. If the line knows an event of the source's line that is not
 * before the last at which that one learned something, it has all of it but the source itself.
 */
static void join(struct causal *c, struct order *o, const struct hop *hop, const struct event *e)
{
	uint32_t u = mark_line(&hop->from);
	uint64_t s = mark_seq(&hop->from);
	const struct row *from = row_at(o, u);
	struct row *to = row_at(o, e->line);
	uint32_t most = from->capacity > c->run->lines ? c->run->lines : (uint32_t)from->capacity - !!from->capacity;

	row_reserve(c, to, u > most ? u : most);
	for (uint32_t v = 1; v <= most && to->known[u] < from->changed; v++) {
		uint64_t k = seen_by(from, v, s);

		if (k > to->known[v] && v != e->line)
			learn(c, to, v, k, e->seq, hop);
	}
	learn(c, to, u, s, e->seq, hop);
}

/* The step by which the mark's line had seen something of t, or NULL. */
static const struct step *step_at(struct order *o, const struct mark *at, uint32_t t)
{
	const struct row *r = row_at(o, mark_line(at));

	return t < r->capacity ? step_by(&r->steps[t], mark_seq(at)) : NULL;
}

static const struct hop *learned(void *order, const struct mark *at, uint32_t t)
{
	const struct step *s = step_at(order, at, t);

	return s ? &s->hop : NULL;
}

/*
 * The rule: what the source x had seen of e's thread is the latest a, and e is b. Returns the activation that
 * holds both, and reports it unless it is `already`.
 */
static const struct activation *split_by(struct causal *c, struct order *o, const struct hop *hop,
	const struct event *e, const struct activation *already)
{
	const struct step *s = step_at(o, &hop->from, e->line);
	const struct activation *a = s ? activations_holding(run_open(c->run, e->line), s->seen) : NULL;

	if (!a || a == already)
		return a;
	path_back(&c->path, c->run, hop, e->line, learned, o);
	path_report(&c->path, c->run, (struct block){a->code, a->site, e->thread, a->begin, a->declared},
		(struct evidence){"causal", "split", e->seq});
	return a;
}

static bool is_known(struct order *o, const struct hop *hop, const struct event *e)
{
	const struct row *r = row_at(o, e->line);
	uint32_t u = mark_line(&hop->from);

	return u < r->capacity && r->known[u] >= mark_seq(&hop->from);
}

static void edge_slowly(struct causal *c, const struct hop *hop, const struct event *e)
{
	const struct activation *split = NULL;

	if (hop->data && !is_known(&c->data, hop, e)) {
		split = split_by(c, &c->data, hop, e, NULL);
		join(c, &c->data, hop, e);
	}
	if (!is_known(&c->full, hop, e)) {
		split_by(c, &c->full, hop, e, split);
		join(c, &c->full, hop, e);
	}
}

/* Data edges are part of the full order, so a source that is known there by data is known in both. */
static inline void edge(struct causal *c, const struct mark *from, const struct event *e, bool data)
{
	const struct row *r;
	uint32_t u = mark_line(from);
	struct hop hop;

	if (!from->at || u == e->line)
		return;
	r = row_at(data ? &c->data : &c->full, e->line);
	if (u < r->capacity && r->known[u] >= mark_seq(from))
		return;
	hop = hop_to(from, e, data);
	edge_slowly(c, &hop, e);
}

static inline void edges_from_readers(struct causal *c, const struct last *l, const struct event *e, bool data)
{
	size_t n;
	const struct mark *m = last_readers(l, &n);

	for (size_t i = 0; i < n; i++)
		edge(c, &m[i], e, data);
}

/* Handlers. */

static void causal_read(void *self, const struct event *e)
{
	struct causal *c = self;
	struct last *x = seg_at(&c->variable, e->object, sizeof *x);

	edge(c, &x->write, e, true);
	last_read(x, c->arena, mark_of(e));
}

static void causal_write(void *self, const struct event *e)
{
	struct causal *c = self;
	struct last *x = seg_at(&c->variable, e->object, sizeof *x);

	edge(c, &x->write, e, true);
	edges_from_readers(c, x, e, true);
	last_write(x, c->arena, mark_of(e));
}

static void causal_acquire(void *self, const struct event *e)
{
	struct causal *c = self;
	struct last *m = seg_at(&c->lock, e->object, sizeof *m);

	edge(c, &m->write, e, false);
	edges_from_readers(c, m, e, false);
}

static void causal_release(void *self, const struct event *e)
{
	struct causal *c = self;

	last_write(seg_at(&c->lock, e->object, sizeof(struct last)), c->arena, mark_of(e));
}

static void causal_acquire_shared(void *self, const struct event *e)
{
	struct causal *c = self;
	struct last *m = seg_at(&c->lock, e->object, sizeof *m);

	edge(c, &m->write, e, false);
}

static void causal_release_shared(void *self, const struct event *e)
{
	struct causal *c = self;

	last_read(seg_at(&c->lock, e->object, sizeof(struct last)), c->arena, mark_of(e));
}

static void causal_post(void *self, const struct event *e)
{
	struct causal *c = self;

	last_read(seg_at(&c->semaphore, e->object, sizeof(struct last)), c->arena, mark_of(e));
}

static void causal_take(void *self, const struct event *e)
{
	struct causal *c = self;

	edges_from_readers(c, seg_at(&c->semaphore, e->object, sizeof(struct last)), e, false);
}

static void causal_depart(void *self, const struct event *e, const struct event *earlier)
{
	struct mark from = mark_of(earlier);

	edge(self, &from, e, earlier->kind == EVENT_FORK);
}

/* The new thread has no event yet: the fork is where its line goes on. */
static void causal_fork(void *self, const struct event *e)
{
	struct hop hop = hop_fork(e);
	struct event start = {.thread = hop.to.thread, .line = (uint32_t)e->object, .seq = e->seq};

	edge_slowly(self, &hop, &start);
}

static void causal_join(void *self, const struct event *e)
{
	struct hop hop = hop_join(e);

	edge_slowly(self, &hop, e);
}

static void causal_split(void *self, uint64_t x, uint64_t y)
{
	struct causal *c = self;
	struct last *from = seg_at(&c->variable, x, sizeof *from);

	last_copy(seg_at(&c->variable, y, sizeof *from), from, c->arena);
}

static void causal_forget(void *self, uint64_t x)
{
	struct causal *c = self;

	last_reset(seg_at(&c->variable, x, sizeof(struct last)), c->arena);
}

static void causal_prefetch(void *self, const struct event *e)
{
	const struct causal *c = self;

	__builtin_prefetch(seg_hint(&c->variable, e->object, sizeof(struct last)), 1);
}

static void *causal_start(struct run *run)
{
	struct causal *c = arena_alloc(run->arena, sizeof *c);

	c->run = run;
	c->arena = run->arena;
	c->path.arena = run->arena;
	seg_init(&c->data.row, run->arena, sizeof(struct row));
	seg_init(&c->full.row, run->arena, sizeof(struct row));
	seg_init(&c->variable, run->arena, sizeof(struct last));
	seg_init(&c->lock, run->arena, sizeof(struct last));
	seg_init(&c->semaphore, run->arena, sizeof(struct last));
	return c;
}

const struct check check_causal = {
	.name = "causal",
	.summary = "every function and block at once, the innermost that was split",
	.start = causal_start,
	.read = causal_read,
	.write = causal_write,
	.acquire = causal_acquire,
	.release = causal_release,
	.acquire_shared = causal_acquire_shared,
	.release_shared = causal_release_shared,
	.fork = causal_fork,
	.join = causal_join,
	.post = causal_post,
	.take = causal_take,
	.depart = causal_depart,
	.split = causal_split,
	.forget = causal_forget,
	.prefetch = causal_prefetch,
};
