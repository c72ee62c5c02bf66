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
 *   view[t][v].known     C[t][v]
 *   newest and older     (since, seen): from its event `since` on, t had seen v's event `seen`; both increase
 * A step is not added when the one before lies in the same innermost open activation of v: whoever asks will
 * get the same answer from the earlier one.
 *
 * Everything belongs to the run and is touched by its handlers only.
 *
 * Cost: an access whose predecessor is known, one comparison. Otherwise linear in the lines with open activations that
 * the source knows of. Memory: nothing a variable; for each pair of such lines as many steps as open activations
 * of v can be told apart.
 */
#include "check/check.h"

#include "base/arena.h"
#include "base/sparse.h"
#include "check/path.h"
#include "state/last.h"

struct step {
	uint64_t since, seen;
	struct kept_hop *hop; /* by which it was learned */
};

/* What one line knows of another. */
struct view {
	uint64_t known;
	struct step newest; /* hop NULL: there is none */
	struct step *older; /* oldest first */
	uint32_t count, capacity;
};

struct row {
	struct sparse view; /* struct view by line, for lines with open activations */
	uint64_t changed;   /* the line's event at which it last learned of another line */
};

struct order {
	struct seg row;
};

struct causal {
	struct run *run;
	struct arena *arena;
	struct order data, full;
	struct path path;
};

static struct row *row_at(struct order *o, uint32_t t)
{
	return seg_at(&o->row, t, sizeof(struct row));
}

static struct view *view_of(struct order *o, uint32_t t, uint32_t v)
{
	return sparse_find(&row_at(o, t)->view, v, sizeof(struct view));
}

/* The step that held when the line was at its event s, or NULL. Nearly always the newest. */
static inline const struct step *step_by(const struct view *w, uint64_t s)
{
	uint32_t i = w->count;

	if (__builtin_expect(w->newest.since <= s, 1))
		return w->newest.hop ? &w->newest : NULL;
	while (i && w->older[i - 1].since > s)
		i--;
	return i ? &w->older[i - 1] : NULL;
}

/*
 * Whether no open activation tells the two events of v apart: the innermost that holds the later one, a, holds both,
 * and so do the others around it, unless a cut lies in between, which ends those that the policy made.
 */
static bool are_alike(const struct activations *open, const struct activation *a, uint64_t earlier, uint64_t later)
{
	return earlier >= a->begin && (earlier > open->cut || later <= open->cut);
}

/* Drops the older steps that no open activation of v tells from the one before. */
static void compact(struct causal *c, struct view *w, const struct activations *open)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < w->count; i++) {
		const struct activation *a = activations_holding(open, w->older[i].seen);

		if (a && !(kept && are_alike(open, a, w->older[kept - 1].seen, w->older[i].seen)))
			w->older[kept++] = w->older[i];
		else
			hop_drop(w->older[i].hop, c->arena);
	}
	w->count = kept;
}

/* The newest step becomes an older one. */
static void push_older(struct causal *c, struct view *w, const struct activations *open)
{
	size_t capacity;

	if (w->count == w->capacity)
		compact(c, w, open);
	capacity = w->capacity;
	w->older = arena_reserve(c->arena, w->older, &capacity, w->count, sizeof *w->older);
	w->capacity = (uint32_t)capacity;
	w->older[w->count++] = w->newest;
}

/*
 * Line t, at its event `now`, learns that v's event k, which is news, came before. Where v has no open activation
 * nobody will ever ask for more than `known`.
 */
static void learn(struct causal *c, struct row *t, uint32_t v, uint64_t k, uint64_t now, struct lesson *lesson)
{
	const struct activations *open = run_open(c->run, v);
	const struct activation *a = activations_holding(open, k);
	struct view *w = sparse_use(&t->view, c->arena, v, sizeof *w);

	w->known = k;
	t->changed = now;
	if (!a || are_alike(open, a, w->newest.seen, k))
		return;
	if (w->newest.hop)
		push_older(c, w, open);
	w->newest = (struct step){now, k, lesson_keep(lesson, c->arena)};
}

/* v has no open activation any more: what the row has seen of it is of no use. */
static void forget_line(struct causal *c, struct row *r, uint32_t v)
{
	struct view *w = sparse_find(&r->view, v, sizeof *w);

	if (w->newest.hop)
		hop_drop(w->newest.hop, c->arena);
	for (uint32_t i = 0; i < w->count; i++)
		hop_drop(w->older[i].hop, c->arena);
	arena_recycle(c->arena, w->older, w->capacity * sizeof *w->older);
	*w = (struct view){0};
	sparse_drop(&r->view, v);
}

static uint64_t known_of(const struct row *t, uint32_t v)
{
	const struct view *w = sparse_find(&t->view, v, sizeof *w);

	return w ? w->known : 0;
}

/* Whether v's event k is in an activation of v that is still open: otherwise nobody will ever ask for it. */
static inline bool is_useful(struct causal *c, uint32_t v, uint64_t k)
{
	const struct activations *open = run_open(c->run, v);

	return open->depth && open->at[0].begin <= k;
}

/* Learns what line u had seen of v by s, if it is news; drops it if it is of no use to anyone. */
static void learn_seen(struct causal *c, struct row *from, struct row *to, uint32_t v, const struct step *step,
	const struct event *e, struct lesson *lesson)
{
	if (v == e->line)
		return;
	if (is_useful(c, v, step->seen))
		learn(c, to, v, step->seen, e->seq, lesson);
	else if (!is_useful(c, v, ((struct view *)sparse_find(&from->view, v, sizeof(struct view)))->newest.seen))
		forget_line(c, from, v);
}

/* One page of the join: only what is news leaves the loop. */
static void join_page(struct causal *c, struct row *from, struct row *to, uint32_t page, uint64_t s,
	const struct event *e, struct lesson *lesson)
{
	const struct sparse_page *f = from->view.page[page], *t = NULL;
	uint64_t used = f ? f->used : 0;

	if (page < to->view.pages)
		t = to->view.page[page];
	for (; used; used &= used - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(used);
		const struct step *step = step_by((const struct view *)f->element + i, s);
		bool has = t && t->used >> i & 1;

		if (step && step->seen > (has ? ((const struct view *)t->element)[i].known : 0))
			learn_seen(c, from, to, page * SPARSE_PAGE + i, step, e, lesson);
	}
}

/*
 * Joins into e's line what the hop's source had seen. If the line knows an event of the source's line that is not
 * before the last at which that one learned something, it has all of it but the source itself. A source that has
 * split something is remembered, so that it does so once.
 */
static void join(struct causal *c, struct order *o, const struct hop *hop, const struct event *e, bool split)
{
	uint32_t u = mark_line(&hop->from);
	uint64_t s = mark_seq(&hop->from);
	struct row *from = row_at(o, u), *to = row_at(o, e->line);
	struct lesson lesson = {.hop = hop};

	if (known_of(to, u) < from->changed)
		for (uint32_t page = 0; page < from->view.pages; page++)
			join_page(c, from, to, page, s, e, &lesson);
	if (split || is_useful(c, u, s))
		learn(c, to, u, s, e->seq, &lesson);
}

/* The step by which the mark's line had seen something of t, or NULL. */
static const struct step *step_at(struct order *o, const struct mark *at, uint32_t t)
{
	const struct view *w = view_of(o, mark_line(at), t);

	return w ? step_by(w, mark_seq(at)) : NULL;
}

static const struct hop *learned(void *order, const struct mark *at, uint32_t t)
{
	const struct step *s = step_at(order, at, t);

	return s ? &s->hop->hop : NULL;
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
	path_back(&c->path, c->run, hop,
		&(struct path_guide){learned, o, e->line, activation_since(run_open(c->run, e->line), a)});
	path_report(&c->path, c->run, block_of(a, e->thread),
		(struct evidence){.check = "causal", .kind = "split", .seq = e->seq});
	return a;
}

static bool is_known(struct order *o, const struct mark *from, const struct event *e)
{
	return known_of(row_at(o, e->line), mark_line(from)) >= mark_seq(from);
}

static void edge_slowly(struct causal *c, const struct hop *hop, const struct event *e)
{
	const struct activation *split = NULL;

	if (hop->data && !is_known(&c->data, &hop->from, e)) {
		split = split_by(c, &c->data, hop, e, NULL);
		join(c, &c->data, hop, e, split);
	}
	if (!is_known(&c->full, &hop->from, e)) {
		split = split_by(c, &c->full, hop, e, split);
		join(c, &c->full, hop, e, split);
	}
}

/* Whether line u knows nothing that t does not, nor of an open activation of t itself. */
static inline bool teaches_nothing(struct causal *c, struct order *o, uint32_t u, uint32_t t)
{
	const struct row *from = row_at(o, u), *to = row_at(o, t);

	for (uint32_t page = 0; page < from->view.pages; page++) {
		const struct sparse_page *f = from->view.page[page];

		for (uint64_t used = f ? f->used : 0; used; used &= used - 1) {
			uint32_t i = (uint32_t)__builtin_ctzll(used), v = page * SPARSE_PAGE + i;
			uint64_t seen = ((const struct view *)f->element)[i].newest.seen;

			if (v == t ? is_useful(c, t, seen) : seen > known_of(to, v))
				return false;
		}
	}
	return true;
}

/*
 * Data edges are part of the full order, so a source that is known there by data is known in both. A source that is
 * in no open activation, and whose line knows nothing new, teaches nothing.
 */
static void causal_edge(void *self, const struct mark *from, const struct event *e, bool data)
{
	struct causal *c = self;
	uint32_t u = mark_line(from);
	struct hop hop;

	if (is_known(data ? &c->data : &c->full, from, e))
		return;
	if (!is_useful(c, u, mark_seq(from)) && teaches_nothing(c, &c->full, u, e->line) &&
		(!data || teaches_nothing(c, &c->data, u, e->line)))
		return;
	hop = hop_to(from, e, data);
	edge_slowly(c, &hop, e);
}

static void *causal_start(struct run *run)
{
	struct causal *c = arena_alloc(run->arena, sizeof *c);

	c->run = run;
	c->arena = run->arena;
	c->path.arena = run->arena;
	seg_init(&c->data.row, run->arena, sizeof(struct row));
	seg_init(&c->full.row, run->arena, sizeof(struct row));
	return c;
}

const struct check check_causal = {
	.name = "causal",
	.summary = "every function and block at once, the innermost that was split",
	.start = causal_start,
	.edge = causal_edge,
};
