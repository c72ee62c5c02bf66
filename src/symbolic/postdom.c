/* SPDX-License-Identifier: MIT */
#include "postdom.h"

#include "base/arena.h"

struct order {
	struct postdom_node *node;
	uint32_t count;
	uint32_t *number;   /* of each node in post-order of the reversed graph, from 1; the end has the largest; 0: no way */
	uint32_t *sequence; /* nodes by that number; [0] is unused */
	uint32_t found;
	uint32_t *from, *first; /* predecessors: from[first[n] .. first[n + 1]) */
};

static void find_predecessors(struct order *o, struct arena *a)
{
	uint32_t edges = 0, *fill = arena_alloc(a, (o->count + 1) * sizeof *fill);

	o->first = arena_alloc(a, (o->count + 2) * sizeof *o->first);
	for (uint32_t n = 0; n < o->count; n++)
		for (uint32_t i = 0; i < o->node[n].tos; i++, edges++)
			o->first[o->node[n].to[i] + 1]++;
	for (uint32_t n = 0; n < o->count; n++)
		o->first[n + 1] += o->first[n];
	o->from = arena_alloc(a, (edges + 1) * sizeof *o->from);
	for (uint32_t n = 0; n < o->count; n++)
		for (uint32_t i = 0; i < o->node[n].tos; i++) {
			uint32_t to = o->node[n].to[i];

			o->from[o->first[to] + fill[to]++] = n;
		}
}

/* Post-order from each node that ends, against the edges, without recursion: functions can be long. */
static void number(struct order *o, struct arena *a)
{
	uint32_t *stack = arena_alloc(a, (o->count + 1) * sizeof *stack), depth;
	uint32_t *next = arena_alloc(a, (o->count + 1) * sizeof *next);
	bool *seen = arena_alloc(a, o->count + 1);

	for (uint32_t end = 0; end < o->count; end++) {
		if (!o->node[end].ends || seen[end])
			continue;
		seen[end] = true;
		stack[0] = end;
		for (depth = 1; depth;) {
			uint32_t n = stack[depth - 1];

			if (o->first[n] + next[n] == o->first[n + 1]) {
				o->number[n] = ++o->found;
				o->sequence[o->found] = n;
				depth--;
			} else {
				uint32_t from = o->from[o->first[n] + next[n]++];

				if (!seen[from]) {
					seen[from] = true;
					stack[depth++] = from;
				}
			}
		}
	}
}

/* Where two chains of post-dominators meet; numbers grow towards the end. `join` holds numbers while this goes on. */
static uint32_t meet(const struct order *o, uint32_t x, uint32_t y)
{
	while (x != y) {
		while (x < y)
			x = o->node[o->sequence[x]].join;
		while (y < x)
			y = o->node[o->sequence[y]].join;
	}
	return x;
}

static uint32_t join_of(const struct order *o, const struct postdom_node *n)
{
	uint32_t end = o->found + 1, join = n->ends ? end : 0;

	for (uint32_t i = 0; i < n->tos; i++) {
		uint32_t x = o->number[n->to[i]];

		if (x && o->node[n->to[i]].join)
			join = join ? meet(o, join, x) : x;
	}
	return join;
}

void postdom(struct postdom_node *node, uint32_t count, struct arena *a)
{
	struct order o = {node, count, arena_alloc(a, (count + 1) * 4), arena_alloc(a, (count + 2) * 4), 0, NULL, NULL};
	bool changed = true;

	find_predecessors(&o, a);
	number(&o, a);
	for (uint32_t n = 0; n < count; n++)
		node[n].join = node[n].ends ? o.found + 1 : 0;
	while (changed) {
		changed = false;
		for (uint32_t k = o.found; k; k--) {
			uint32_t join = join_of(&o, &node[o.sequence[k]]);

			changed |= join != node[o.sequence[k]].join;
			node[o.sequence[k]].join = join;
		}
	}
	for (uint32_t n = 0; n < count; n++)
		if (!node[n].join)
			node[n].join = POSTDOM_NONE;
		else
			node[n].join = node[n].join == o.found + 1 ? POSTDOM_EXIT : o.sequence[node[n].join];
}
