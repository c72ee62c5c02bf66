/* SPDX-License-Identifier: MIT */
/*
 * Components by Tarjan's algorithm, with a stack of its own since a path may be as long as the run. It finishes a
 * component only after all that can be reached from it, so the last one that it finishes is the first in the order.
 */
#include "nonatomic_conflicts.h"

#include <stdint.h>

#include "base/arena.h"
#include "predict/nonatomic.h"
#include "predict/nonatomic_history.h"

enum { NONE = HISTORY_NONE };

struct edge {
	uint32_t to, next; /* the next edge of the same block; NONE */
};

struct node {
	uint32_t out;   /* its first edge; while it is being looked at, the next one */
	uint32_t index; /* when it was met, from 1 */
	uint32_t low;   /* the earliest one on the stack that it reaches */
	uint32_t back;  /* whence it was met */
	uint32_t component; /* from 1 */
	bool chained;   /* the edge to its successor in the thread was followed */
};

struct graph {
	struct history *h;
	struct node *node;
	struct edge *edge;
	size_t edges, edge_capacity;
	uint32_t *stack;
	uint32_t height, met, components;
};

static void edge_add(struct graph *g, uint32_t from, uint32_t to)
{
	if (from == NONE || from == to)
		return;
	g->edge = arena_reserve(g->h->arena, g->edge, &g->edge_capacity, g->edges, sizeof *g->edge);
	g->edge[g->edges] = (struct edge){to, g->node[from].out};
	g->node[from].out = (uint32_t)g->edges++;
}

/* Who touched a variable last: the writer, and those that have read since, chained by their ops. */
struct touched {
	uint32_t writer, readers;
};

static void edges_of_op(struct graph *g, struct touched *t, uint32_t *reader_before, uint32_t i)
{
	const struct nonatomic_op *op = &g->h->q->op[i];

	edge_add(g, t->writer, op->block);
	if (!op->writes) {
		reader_before[i] = t->readers;
		t->readers = i;
		return;
	}
	for (uint32_t r = t->readers; r != NONE; r = reader_before[r])
		edge_add(g, g->h->q->op[r].block, op->block);
	*t = (struct touched){op->block, NONE};
}

static void edges_make(struct graph *g)
{
	const struct nonatomic_question *q = g->h->q;
	struct touched *touched = arena_alloc(g->h->arena, ((size_t)q->variables + 1) * sizeof *touched);
	uint32_t *reader_before = arena_alloc(g->h->arena, (q->ops + 1) * sizeof *reader_before);

	for (uint32_t x = 0; x < q->variables; x++)
		touched[x] = (struct touched){NONE, NONE};
	for (uint32_t i = 0; i < q->ops; i++)
		edges_of_op(g, &touched[q->op[i].variable], reader_before, i);
	for (size_t i = 0; i < q->orders; i++)
		edge_add(g, q->order[i].before, q->order[i].after);
}

/* The block's next successor that was not looked at yet; NONE. */
static uint32_t successor(struct graph *g, uint32_t b)
{
	const struct history_block *k = &g->h->block[b];
	struct node *n = &g->node[b];
	uint32_t to;

	if (!n->chained) {
		n->chained = true;
		if (k->position + 1 < history_length(g->h, k->thread))
			return g->h->chain[g->h->chain_at[k->thread] + k->position + 1];
	}
	if (n->out == NONE)
		return NONE;
	to = g->edge[n->out].to;
	n->out = g->edge[n->out].next;
	return to;
}

static void meet(struct graph *g, uint32_t b, uint32_t back)
{
	g->node[b].index = g->node[b].low = ++g->met;
	g->node[b].back = back;
	g->stack[g->height++] = b;
}

static void leave(struct graph *g, uint32_t b)
{
	struct node *n = &g->node[b];

	if (n->back != NONE && g->node[n->back].low > n->low)
		g->node[n->back].low = n->low;
	if (n->low != n->index)
		return;
	g->components++;
	do
		g->node[g->stack[--g->height]].component = g->components;
	while (g->stack[g->height] != b);
}

static void visit(struct graph *g, uint32_t start)
{
	meet(g, start, NONE);
	for (uint32_t b = start; b != NONE;) {
		uint32_t to = successor(g, b);

		if (to == NONE) {
			leave(g, b);
			b = g->node[b].back;
		} else if (!g->node[to].index) {
			meet(g, to, b);
			b = to;
		} else if (!g->node[to].component && g->node[to].index < g->node[b].low) {
			g->node[b].low = g->node[to].index;
		}
	}
}

/* The last component comes first; within one, the blocks as they are numbered. */
static void ranks_give(struct graph *g)
{
	uint32_t blocks = g->h->q->blocks;
	uint32_t *at = arena_alloc(g->h->arena, ((size_t)g->components + 2) * sizeof *at);

	for (uint32_t b = 0; b < blocks; b++)
		at[g->components - g->node[b].component + 1]++;
	for (uint32_t c = 0; c < g->components; c++)
		at[c + 1] += at[c];
	for (uint32_t b = 0; b < blocks; b++)
		g->h->block[b].rank = at[g->components - g->node[b].component]++;
}

bool conflicts_rank(struct history *h)
{
	uint32_t blocks = h->q->blocks;
	struct graph g = {.h = h};

	g.node = arena_alloc(h->arena, ((size_t)blocks + 1) * sizeof *g.node);
	g.stack = arena_alloc(h->arena, ((size_t)blocks + 1) * sizeof *g.stack);
	for (uint32_t b = 0; b < blocks; b++)
		g.node[b].out = NONE;
	edges_make(&g);
	for (uint32_t b = 0; b < blocks; b++)
		if (!g.node[b].index)
			visit(&g, b);
	ranks_give(&g);
	return g.components < blocks;
}
