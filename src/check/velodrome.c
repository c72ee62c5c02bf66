/* SPDX-License-Identifier: MIT */
/*
 * velodrome: are the declared blocks of this run serializable, and if not, by which cycle?
 *
 * Reported is a declared block that lies on a cycle of the conflict graph (docs/traces.md), at the event that closes
 * it, open blocks included; the cycle is the path of the finding. A cycle over data alone is `observed`; one that
 * needs locks, semaphores or barriers is `suspected`. On every trace the first report, and the first `observed` one,
 * come at the very events where the full order, and the data order, stop being serializable.
 *
 * Flanagan, Freund and Yi, PLDI 2008. Nodes are declared blocks and events outside them; each conflict draws an edge,
 * and a search from its target to its source looks for a cycle. An event outside blocks belongs to its thread's last
 * node until an edge leads into it: then it is a new one (the paper's `merge`, but only ever into a node of the same
 * thread, so that a path goes from operation to operation). A finished node without incoming edges is freed, and so
 * in turn is what lives by it alone. Beyond the paper: nodes that stay because of one long block are merged when there
 * are many (`compact`); and an edge belongs to the graph of the full order, to that of the data order, or to both.
 * Each graph turns away the edges that close a cycle in it, so both stay acyclic, and no cycle of locks hides one of
 * data.
 *
 * State: the paper's W, R and U are kept for all checks (state/conflicts.h). Per line its nodes in program order; the
 * last one is L(t), and C(t) while it is open. A mark's node is the last one of its line that had begun by then; what
 * lies before the first has been freed. drawn[t][u], per graph: up to which event of u its edges lead to t, or to
 * something before t.
 *
 * Everything belongs to the run and is touched by its handlers only.
 *
 * Cost: two comparisons for a source that was freed or is drawn. A new edge into an open block that something follows,
 * a search over what follows. Memory: two words a pair of lines that meet, and nodes in the order of the lines times
 * the open blocks; nothing a variable, nothing an event.
 */
#include "check/check.h"

#include <assert.h>

#include "base/arena.h"
#include "base/sparse.h"
#include "check/path.h"
#include "state/last.h"

enum graph { FULL, DATA, GRAPHS };

/* Nodes that are left in peace by `compact`: this many a line, and twice as many as it left the last time. */
enum { NODES_A_LINE = 4 };

struct edge {
	struct hop hop;
	struct node *to;
	struct edge *next; /* that leaves the same node */
	bool in[GRAPHS];
	bool stray; /* FULL has turned it away, DATA has not */
};

struct node {
	uint64_t position; /* seq of the block's begin, or of the event */
	uint32_t line;
	uint32_t incoming;            /* edges, and one for `previous` */
	struct node *previous, *next; /* of the line */
	struct edge *out, *out_last;  /* oldest first */
	bool open;

	/* Of the search that was here last. */
	uint64_t met;
	struct node *queued;   /* what it met next */
	struct node *back;     /* where it came from, */
	const struct edge *by; /* and by which edge, NULL for program order */

	/* Of `compact`. */
	bool reached; /* by an open block */
	bool needed;  /* reached by an open block that does not reach `previous` */
	bool has[GRAPHS];
};

/* Up to which event of one line the edges to another have been drawn. */
struct drawn {
	uint64_t until[GRAPHS];
};

struct line {
	struct node *first, *last;
	struct sparse drawn; /* struct drawn by line */
};

struct velodrome {
	struct run *run;
	struct arena *arena;
	struct seg line;
	size_t nodes, most; /* how many there are, and may be before `compact` */
	size_t strays;      /* edges that are stray */
	uint64_t searches;
	struct path path;
};

static struct line *line_at(struct velodrome *v, uint64_t t)
{
	return seg_at(&v->line, t, sizeof(struct line));
}

/* Nodes and edges. */

static struct node *node_new(struct velodrome *v, uint32_t t, uint64_t position, bool open)
{
	struct line *l = line_at(v, t);
	struct node *n = arena_alloc(v->arena, sizeof *n);

	n->position = position;
	n->line = t;
	n->open = open;
	n->previous = l->last;
	n->incoming = l->last != NULL;
	*(l->last ? &l->last->next : &l->first) = n;
	l->last = n;
	v->nodes++;
	return n;
}

/* Takes the node out of its line. It has no edges any more. */
static void node_free(struct velodrome *v, struct node *n)
{
	struct line *l = line_at(v, n->line);

	*(n->previous ? &n->previous->next : &l->first) = n->next;
	*(n->next ? &n->next->previous : &l->last) = n->previous;
	arena_recycle(v->arena, n, sizeof *n);
	v->nodes--;
}

/* Whether the node of an event of the line has been freed. */
static inline bool is_freed(const struct line *l, uint64_t seq)
{
	return !l->first || seq < l->first->position;
}

/* The node that an event of the line belongs to; NULL if it has been freed. */
static struct node *node_of(const struct line *l, uint64_t seq)
{
	struct node *n = is_freed(l, seq) ? NULL : l->last;

	while (n && n->position > seq)
		n = n->previous;
	return n;
}

/* The node for an event that an edge leads into. */
static struct node *node_into(struct velodrome *v, const struct event *e)
{
	struct node *n = line_at(v, e->line)->last;

	if (n && (n->open || n->position == e->seq))
		return n;
	return node_new(v, e->line, e->seq, false);
}

static void edge_add(struct node *from, struct edge *e)
{
	*(from->out ? &from->out_last->next : &from->out) = e;
	from->out_last = e;
	e->to->incoming++;
}

static void edge_new(struct velodrome *v, struct node *from, const struct edge *values)
{
	struct edge *e = arena_alloc(v->arena, sizeof *e);

	*e = *values;
	edge_add(from, e);
	v->strays += e->stray;
}

static void edge_free(struct velodrome *v, struct edge *e)
{
	v->strays -= e->stray;
	arena_recycle(v->arena, e, sizeof *e);
}

/* An edge into n is gone: if it was the last and n is finished, n goes before the `garbage`. Returns that. */
static struct node *node_loses(struct node *n, struct node *garbage)
{
	if (--n->incoming || n->open)
		return garbage;
	n->queued = garbage;
	return n;
}

/* Frees a finished node without incoming edges, and what lived by it alone. */
static void sweep(struct velodrome *v, struct node *garbage)
{
	garbage->queued = NULL;
	while (garbage) {
		struct node *n = garbage;

		garbage = n->queued;
		for (struct edge *e = n->out, *next; e; e = next) {
			next = e->next;
			garbage = node_loses(e->to, garbage);
			edge_free(v, e);
		}
		if (n->next)
			garbage = node_loses(n->next, garbage);
		node_free(v, n);
	}
}

/* Gives all edges that leave the node to the one before it in its line. */
static void edges_pass_on(struct node *n)
{
	struct node *p = n->previous;

	if (!n->out)
		return;
	*(p->out ? &p->out_last->next : &p->out) = n->out;
	p->out_last = n->out_last;
	n->out = NULL;
}

/* The search. */

struct search {
	struct velodrome *v;
	enum graph graph;
	struct node *start;
	const struct node *goal; /* NULL: whatever can be reached */
	struct node *last;
	bool found;
};

/* Comes to n by an edge, and so to what follows it in its line. */
static void meet(struct search *q, struct node *n, struct node *back, const struct edge *by)
{
	for (; n && n->met != q->v->searches; back = n, n = n->next, by = NULL) {
		n->met = q->v->searches;
		n->queued = NULL;
		n->back = back;
		n->by = by;
		if (q->last)
			q->last->queued = n;
		q->last = n;
		if (q->goal && n->line == q->goal->line && n->position <= q->goal->position) {
			q->found = true;
			return;
		}
	}
}

/*
 * Breadth first over the edges: the way found has as few of them as any. The goal is found with any node of its line
 * that is not after it. The nodes that were met are chained by `queued` afterwards.
 */
static bool search(struct search *q)
{
	q->v->searches++;
	meet(q, q->start, NULL, NULL);
	for (struct node *n = q->start; n && !q->found; n = n->queued)
		for (const struct edge *e = n->out; e && !q->found; e = e->next)
			if (e->in[q->graph])
				meet(q, e->to, n, e);
	return q->found;
}

/* Whether an edge from s to n would. */
static bool closes_cycle(struct velodrome *v, enum graph g, const struct node *s, struct node *n)
{
	return n->open && n->out && search(&(struct search){v, g, n, .goal = s});
}

/*
 * Merging. A node can be merged into the one before it in its line when every open block that reaches it reaches that
 * one too, in both graphs: then the edges into it tell nothing, and never will, for finished nodes get no new ones.
 * A line is left with at most two nodes an open block.
 */

static void flags_reset(struct velodrome *v)
{
	for (uint32_t t = 1; t <= v->run->lines; t++) {
		for (struct node *n = line_at(v, t)->first; n; n = n->next) {
			n->incoming = 0;
			n->reached = n->needed = n->open;
		}
	}
}

/* Notes what the open block reaches, and in each line where that begins. */
static void flood(struct velodrome *v, enum graph g, struct node *open)
{
	search(&(struct search){.v = v, g, open});
	for (struct node *n = open; n; n = n->queued) {
		n->reached = true;
		if (!n->previous || n->previous->met != v->searches)
			n->needed = true;
	}
}

static void flood_all(struct velodrome *v)
{
	for (uint32_t t = 1; t <= v->run->lines; t++) {
		struct node *n = line_at(v, t)->last;

		if (n && n->open) {
			flood(v, FULL, n);
			flood(v, DATA, n);
		}
	}
}

/* Whether an edge of the same node to the same target is in all graphs that e is in; if not, e is one from now on. */
static bool edge_is_double(const struct edge *e)
{
	bool *has = e->to->has;

	if (has[FULL] >= e->in[FULL] && has[DATA] >= e->in[DATA])
		return true;
	has[FULL] |= e->in[FULL];
	has[DATA] |= e->in[DATA];
	return false;
}

/* Frees the edges that tell nothing, and counts the others. */
static void edges_filter(struct velodrome *v, struct node *n)
{
	struct edge *all = n->out, *e, *next;

	for (e = all; e; e = e->next)
		e->to->has[FULL] = e->to->has[DATA] = false;
	n->out = NULL;
	for (e = all; e; e = next) {
		next = e->next;
		if (!n->reached || !e->to->needed || edge_is_double(e)) {
			edge_free(v, e);
		} else {
			e->next = NULL;
			edge_add(n, e);
		}
	}
}

static void nodes_filter(struct velodrome *v, struct line *l)
{
	for (struct node *n = l->first, *next; n; n = next) {
		next = n->next;
		if (n->needed)
			n->incoming += n->previous != NULL;
		else
			node_free(v, n);
	}
}

/*
 * What no open block reaches goes as well. `sweep` may have left some: once FULL has turned edges away, two finished
 * nodes can live by an edge from each other, in one graph each.
 */
static void compact(struct velodrome *v)
{
	flags_reset(v);
	flood_all(v);
	for (uint32_t t = 1; t <= v->run->lines; t++)
		for (struct node *n = line_at(v, t)->last; n; n = n->previous)
			if (n->reached && !n->needed)
				edges_pass_on(n);
	for (uint32_t t = 1; t <= v->run->lines; t++)
		for (struct node *n = line_at(v, t)->first; n; n = n->next)
			edges_filter(v, n);
	for (uint32_t t = 1; t <= v->run->lines; t++)
		nodes_filter(v, line_at(v, t));
	v->most = 2 * v->nodes + NODES_A_LINE * (size_t)v->run->lines;
}

/* The report. */

/* By which hop the search has come to the line of the mark. */
static const struct hop *learned(void *self, const struct mark *at, uint32_t t)
{
	struct search *q = self;
	const struct node *n = node_of(line_at(q->v, mark_line(at)), mark_seq(at));

	assert(t == q->start->line);
	while (n && n->met != q->v->searches)
		n = n->previous;
	while (n && !n->by)
		n = n->back;
	return n ? &n->by->hop : NULL;
}

/* The hop would close a cycle through the block where the search starts. */
static void report(struct velodrome *v, struct search *q, const struct hop *last)
{
	uint32_t t = q->start->line;
	const struct activation *block;

	search(q);
	path_back(&v->path, v->run, last, &(struct path_guide){learned, q, t, q->start->position});
	block = activations_exact_holding(run_open(v->run, t), mark_seq(path_start(&v->path)));
	if (!block)
		return; /* a cut lies between its ends: scope.c, ends_transaction() */
	path_report(&v->path, v->run, block_of(block, last->to.thread),
		(struct evidence){.check = "velodrome", .kind = "cycle", .seq = mark_seq(&last->to)});
}

/* Drawing an edge. */

static void drawn_raise(struct drawn *d, enum graph g, uint64_t seq)
{
	if (d->until[g] < seq)
		d->until[g] = seq;
}

static inline bool is_drawn(const struct drawn *d, uint64_t seq, bool data)
{
	return seq <= d->until[FULL] && (!data || seq <= d->until[DATA]);
}

/*
 * Draws the edge from s to n in the graphs where it is missing and closes no cycle. As long as there is no stray edge,
 * DATA is a part of FULL: what closes no cycle there, or is there already, closes none in DATA.
 */
static void connect(struct velodrome *v, struct node *s, struct node *n, const struct hop *h)
{
	struct drawn *d = sparse_find(&line_at(v, n->line)->drawn, s->line, sizeof *d);
	bool full = s->position > d->until[FULL], data = h->data && s->position > d->until[DATA];
	bool full_cycle = full && closes_cycle(v, FULL, s, n);
	bool data_cycle = data && (full_cycle || v->strays) && closes_cycle(v, DATA, s, n);

	if (full_cycle || data_cycle)
		report(v, &(struct search){v, data_cycle ? DATA : FULL, n, .goal = s}, h);
	full = full && !full_cycle;
	data = data && !data_cycle;
	if (full)
		drawn_raise(d, FULL, mark_seq(&h->from));
	if (data)
		drawn_raise(d, DATA, mark_seq(&h->from));
	if (full || data)
		edge_new(v, s, &(struct edge){*h, .to = n, .in = {full, data}, .stray = full_cycle});
}

/* Nothing is to be drawn from a node that has been freed, or from which an edge leads here already. */
static void draw(struct velodrome *v, const struct hop *h, const struct event *e)
{
	uint64_t seq = mark_seq(&h->from);
	uint32_t u = mark_line(&h->from);
	struct drawn *d;
	struct node *s;

	if (v->nodes > v->most)
		compact(v);
	s = node_of(line_at(v, u), seq);
	if (!s)
		return;
	d = sparse_use(&line_at(v, e->line)->drawn, v->arena, u, sizeof *d);
	if (!is_drawn(d, s->position, h->data)) {
		connect(v, s, node_into(v, e), h);
		return;
	}
	drawn_raise(d, FULL, seq);
	if (h->data)
		drawn_raise(d, DATA, seq);
}

/* Handlers. */

/* Most edges end here: the source can be on no cycle any more, or is before e already. */
static void velodrome_edge(void *self, const struct mark *from, const struct event *e, bool data)
{
	struct velodrome *v = self;
	const struct drawn *d;
	struct hop hop;

	if (is_freed(line_at(v, mark_line(from)), mark_seq(from)))
		return;
	d = sparse_find(&line_at(v, e->line)->drawn, mark_line(from), sizeof *d);
	if (d && is_drawn(d, mark_seq(from), data))
		return;
	hop = hop_to(from, e, data);
	draw(v, &hop, e);
}

static void velodrome_begin(void *self, const struct event *e)
{
	struct velodrome *v = self;

	if (run_open(v->run, e->line)->exact != 1)
		return;
	if (v->nodes > v->most)
		compact(v);
	node_new(v, e->line, e->seq, true);
}

/* A block that nothing led into but its thread's past is as good as a part of that. */
static void velodrome_end(void *self, const struct event *e)
{
	struct velodrome *v = self;
	struct node *n = line_at(v, e->line)->last;

	if (run_open(v->run, e->line)->exact != 1)
		return;
	n->open = false;
	if (n->incoming == 0) {
		sweep(v, n);
	} else if (n->incoming == 1 && n->previous) {
		edges_pass_on(n);
		node_free(v, n);
	}
}

static void *velodrome_start(struct run *run)
{
	struct velodrome *v = arena_alloc(run->arena, sizeof *v);

	v->run = run;
	v->arena = run->arena;
	v->path.arena = run->arena;
	v->most = NODES_A_LINE;
	seg_init(&v->line, run->arena, sizeof(struct line));
	return v;
}

const struct check check_velodrome = {
	.name = "velodrome",
	.summary = "exact for declared blocks, with the cycle of blocks as the witness",
	.single = true,
	.start = velodrome_start,
	.edge = velodrome_edge,
	.on = {[ON_BEGIN] = velodrome_begin, [ON_END] = velodrome_end},
};
