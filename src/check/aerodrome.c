/* SPDX-License-Identifier: MIT */
/*
 * aerodrome: are the declared blocks of this run serializable?
 *
 * Reported is a declared block that lies on a cycle of the conflict graph (docs/traces.md): no serial order of the
 * blocks gives the same run. Nothing else is: on every trace the verdict is that of the definition, at the first
 * event after which it holds. A cycle over data alone is `observed`; one that needs locks is `suspected`.
 *
 * The problem and the name are AeroDrome's (Mathur and Viswanathan, ASPLOS 2020): one pass, no graph. Its state is a
 * vector clock per variable, lock and thread, which `end` has to bring up to date. Here it is one table: an edge can
 * only close a cycle into the open block of the thread that acts, so all that must be known about a past event (u, s)
 * is from which *open* blocks it can be reached. For thread u that is a step function of s, and for each open block
 * one step: the start of the first transaction of u that the block reaches. Variables need keep no more than (u, s);
 * `end` clears one column; an open transaction that learns of a new ancestor passes it on to its descendants at once,
 * so there is nothing stale to look up later.
 *
 * State, for lines t, u, v: begin[t], the start of t's outermost open declared block, 0 for none. For each order
 * (data; full): from[u][v].since, the start of the first transaction of u that v's open block reaches, if it does, and
 * the hop by which it does. below[v]: the lines u that have such a v, so that `end` need not look for them. first[u]:
 * no step of u's row in either order is earlier; events of u before that have no open ancestor.
 *   edge (u, s) -> t:  if from[u][t].since <= s: cycle.  Else each v with from[u][v].since <= s, and u itself if
 *                      begin[u] <= s, becomes an ancestor of t's transaction, and of every w below t, from there on.
 * A cyclic edge is reported and left out of its order, which stays acyclic.
 *
 * Everything belongs to the run and is touched by its handlers only.
 *
 * Cost: an event whose predecessors have no open ancestor, one comparison each. Otherwise linear in the open blocks
 * that reach the predecessor; a new ancestor costs the number of descendants, once per pair of blocks. Memory: the
 * table grows to lines times lines only as far as blocks reach each other.
 */
#include "check/check.h"

#include "base/arena.h"
#include "base/sparse.h"
#include "check/path.h"
#include "state/last.h"

/* That an open block reaches a line: from the transaction on that started at `since`. */
struct reach {
	uint64_t since;
	struct kept_hop *hop; /* by which it does */
};

/* What reaches the transactions of one line, in one order. */
struct row {
	struct sparse from;  /* struct reach by line v: v's open block reaches this line */
	struct sparse below; /* the lines u that this line's open block reaches; no elements */
};

struct order {
	struct seg row; /* by line */
};

/* One line, for both orders. */
struct line {
	uint64_t begin; /* of the outermost open declared block, 0 for none */
	uint64_t first; /* no reach in its rows starts earlier; x is stored as UINT64_MAX - x, so that 0 is "none" */
	uint32_t reaches; /* how many there are in its two rows */
};

struct aerodrome {
	struct run *run;
	struct arena *arena;
	struct order data, full;
	struct seg line;
	struct path path;
};

static struct line *line_at(struct aerodrome *a, uint32_t t)
{
	return seg_at(&a->line, t, sizeof(struct line));
}

static struct row *row_at(struct order *o, uint32_t t)
{
	return seg_at(&o->row, t, sizeof(struct row));
}

/* How v's open block reaches the row's line at its event s, or NULL. */
static struct reach *reached_by(const struct row *u, uint32_t v, uint64_t s)
{
	struct reach *r = sparse_find(&u->from, v, sizeof *r);

	return r && r->since <= s ? r : NULL;
}

/* From `start` on, v's open block reaches line u; `hop` has a user more. */
static void reach(struct aerodrome *a, struct order *o, uint32_t u, uint32_t v, uint64_t start,
	struct kept_hop *hop)
{
	struct row *row = row_at(o, u);
	struct line *line = line_at(a, u);
	struct reach *old = sparse_find(&row->from, v, sizeof *old);

	if (old)
		hop_drop(old->hop, a->arena);
	else
		line->reaches++;
	*(struct reach *)sparse_use(&row->from, a->arena, v, sizeof *old) = (struct reach){start, hop};
	sparse_use(&row_at(o, v)->below, a->arena, u, 0);
	if (UINT64_MAX - start > line->first)
		line->first = UINT64_MAX - start;
}

/*
 * v's open block reaches t's transaction, which began at `start`. If that is an open block, whatever it has
 * reached so far is reached by v too, from where t's block reached it: the last hop there is the same.
 */
static void gain(struct aerodrome *a, struct order *o, uint32_t t, uint32_t v, uint64_t start,
	struct lesson *lesson)
{
	const struct sparse *below = &row_at(o, t)->below;

	if (reached_by(row_at(o, t), v, start))
		return;
	reach(a, o, t, v, start, lesson_keep(lesson, a->arena));
	if (!line_at(a, t)->begin)
		return;
	for (uint32_t w = sparse_next(below, 1); w; w = sparse_next(below, w + 1)) {
		const struct reach *by = sparse_find(&row_at(o, w)->from, t, sizeof *by);

		if (!reached_by(row_at(o, w), v, by->since))
			reach(a, o, w, v, by->since, hop_keep(by->hop));
	}
}

static const struct hop *learned(void *order, const struct mark *at, uint32_t t)
{
	const struct reach *r = reached_by(row_at(order, mark_line(at)), t, mark_seq(at));

	return r ? &r->hop->hop : NULL;
}

static void report(struct aerodrome *a, struct order *o, const struct hop *last, const struct event *e)
{
	struct path_guide home = {learned, o, e->line, line_at(a, e->line)->begin};
	const struct activation *block;

	path_back(&a->path, a->run, last, &home);
	block = activations_exact_holding(run_open(a->run, e->line), mark_seq(path_start(&a->path)));
	if (!block)
		return; /* a cut lies between its ends: scope.c, ends_transaction() */
	path_report(&a->path, a->run, block_of(block, e->thread),
		(struct evidence){.check = "aerodrome", .kind = "cycle", .seq = e->seq});
}

/* The rule: an edge in one order. False if it closes a cycle, and then it is left out. */
static bool add_edge(struct aerodrome *a, struct order *o, const struct hop *hop, uint32_t t, uint64_t start)
{
	uint32_t u = mark_line(&hop->from);
	uint64_t s = mark_seq(&hop->from), begin = line_at(a, u)->begin;
	const struct row *row = row_at(o, u);
	struct lesson lesson = {.hop = hop};

	if (reached_by(row, t, s))
		return false;
	for (uint32_t v = sparse_next(&row->from, 1); v; v = sparse_next(&row->from, v + 1))
		if (reached_by(row, v, s))
			gain(a, o, t, v, start, &lesson);
	if (begin && begin <= s)
		gain(a, o, t, u, start, &lesson);
	return true;
}

/* An event outside blocks is a transaction of its own. */
static uint64_t transaction_start(struct aerodrome *a, const struct event *e)
{
	uint64_t begin = line_at(a, e->line)->begin;

	return begin ? begin : e->seq;
}

static void edge_slowly(struct aerodrome *a, const struct hop *hop, const struct event *e)
{
	uint64_t start = transaction_start(a, e);
	bool full = add_edge(a, &a->full, hop, e->line, start);

	if (hop->data && !add_edge(a, &a->data, hop, e->line, start))
		report(a, &a->data, hop, e);
	else if (!full)
		report(a, &a->full, hop, e);
}

/*
 * Whether all that reaches (u, s) reaches t's transaction already. What t has of v starts no later than its
 * transaction; t itself is never among it, so an edge that closes a cycle is never passed over.
 */
static bool is_known(struct order *o, const struct mark *from, uint32_t t, uint64_t begin)
{
	uint32_t u = mark_line(from);
	const struct sparse *have = &row_at(o, t)->from, *come = &row_at(o, u)->from;

	if (begin && begin <= mark_seq(from) && !sparse_find(have, u, sizeof(struct reach)))
		return false;
	for (uint32_t p = 0; p < come->pages; p++) {
		uint64_t used = come->page[p] ? come->page[p]->used : 0;

		if (p < have->pages && have->page[p])
			used &= ~have->page[p]->used;
		if (used)
			return false;
	}
	return true;
}

/* Most edges end here: nothing that is still open reaches the mark, or it reaches the event as well. */
static void aerodrome_edge(void *self, const struct mark *from, const struct event *e, bool data)
{
	struct aerodrome *a = self;
	const struct line *u = line_at(a, mark_line(from));
	struct hop hop;

	if (mark_seq(from) < UINT64_MAX - u->first && (!u->begin || mark_seq(from) < u->begin))
		return;
	if (is_known(&a->full, from, e->line, u->begin) && (!data || is_known(&a->data, from, e->line, u->begin)))
		return;
	hop = hop_to(from, e, data);
	edge_slowly(a, &hop, e);
}

static void aerodrome_begin(void *self, const struct event *e)
{
	struct aerodrome *a = self;

	if (run_open(a->run, e->line)->exact == 1)
		line_at(a, e->line)->begin = e->seq;
}

/*
 * Nothing can close a cycle into the block any more: its column goes. `first` is put right where a row
 * has become empty; elsewhere it may stay too low, which costs time and nothing else.
 */
static void column_clear(struct aerodrome *a, struct order *o, uint32_t t)
{
	struct sparse *below = &row_at(o, t)->below;

	for (uint32_t w = sparse_next(below, 1); w; w = sparse_next(below, w + 1)) {
		struct row *row = row_at(o, w);

		hop_drop(((struct reach *)sparse_find(&row->from, t, sizeof(struct reach)))->hop, a->arena);
		sparse_drop(&row->from, t);
		sparse_drop(below, w);
		if (--line_at(a, w)->reaches == 0)
			line_at(a, w)->first = 0;
	}
}

static void aerodrome_end(void *self, const struct event *e)
{
	struct aerodrome *a = self;

	if (run_open(a->run, e->line)->exact != 1)
		return;
	line_at(a, e->line)->begin = 0;
	column_clear(a, &a->full, e->line);
	column_clear(a, &a->data, e->line);
}

static void *aerodrome_start(struct run *run)
{
	struct aerodrome *a = arena_alloc(run->arena, sizeof *a);

	a->run = run;
	a->arena = run->arena;
	a->path.arena = run->arena;
	seg_init(&a->data.row, run->arena, sizeof(struct row));
	seg_init(&a->full.row, run->arena, sizeof(struct row));
	seg_init(&a->line, run->arena, sizeof(struct line));
	return a;
}

const struct check check_aerodrome = {
	.name = "aerodrome",
	.summary = "exact for declared blocks (begin/end), in one pass",
	.declared = true,
	.start = aerodrome_start,
	.edge = aerodrome_edge,
	.on = {[ON_BEGIN] = aerodrome_begin, [ON_END] = aerodrome_end},
};
