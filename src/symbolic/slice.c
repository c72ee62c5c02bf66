/* SPDX-License-Identifier: MIT */
#include "slice.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "symbolic/walk_read.h"

/* The way down through expressions, without recursion: a chain may be as long as the walk. */
struct descent {
	const struct walk *walk;
	uint32_t *stamp; /* by expression: the condition that was here last, + 1 */
	uint32_t *stack;
	size_t depth;
	uint32_t *found; /* inputs */
	size_t count;
	uint32_t *seen;  /* by input, likewise */
};

static void push(struct descent *d, uint32_t expr, uint32_t stamp)
{
	if (!expr || expr >= d->walk->nodes || d->stamp[expr] == stamp)
		return;
	d->stamp[expr] = stamp;
	d->stack[d->depth++] = expr;
}

static void visit(struct descent *d, const struct walk_node *n, uint32_t stamp)
{
	if (n->kind == WALK_INPUT && d->seen[n->a] != stamp) {
		d->seen[n->a] = stamp;
		d->found[d->count++] = n->a;
	}
	if (n->kind != WALK_NODE)
		return;
	push(d, n->a, stamp);
	if (n->op != WALK_BYTE)
		push(d, n->b, stamp);
	push(d, n->c, stamp);
}

void slices_init(struct slices *s, const struct walk *w, struct arena *a)
{
	struct descent d = {.walk = w, .stamp = arena_alloc(a, (w->nodes + 1) * sizeof(uint32_t)),
		.stack = arena_alloc(a, (w->nodes + 1) * sizeof(uint32_t)),
		.found = arena_alloc(a, (w->inputs + 1) * sizeof(uint32_t)),
		.seen = arena_alloc(a, (w->inputs + 1) * sizeof(uint32_t))};

	*s = (struct slices){.walk = w, .arena = a, .inputs = arena_alloc(a, (w->conditions + 1) * sizeof *s->inputs),
		.leader = arena_alloc(a, (w->inputs + 1) * sizeof *s->leader)};
	for (size_t i = 0; i < w->conditions; i++) {
		d.count = 0;
		push(&d, w->condition[i].expr, (uint32_t)i + 1);
		while (d.depth)
			visit(&d, &w->node[d.stack[--d.depth]], (uint32_t)i + 1);
		s->inputs[i] = (struct slice_set){arena_alloc(a, (d.count + 1) * sizeof *d.found), d.count};
		memcpy(s->inputs[i].at, d.found, d.count * sizeof *d.found);
	}
}

/* Sets of inputs that belong together, as trees. */

static uint32_t leader_of(struct slices *s, uint32_t input)
{
	while (s->leader[input] != input)
		input = s->leader[input] = s->leader[s->leader[input]];
	return input;
}

static void join(struct slices *s, const struct slice_set *set)
{
	for (size_t i = 1; i < set->count; i++)
		s->leader[leader_of(s, set->at[i])] = leader_of(s, set->at[0]);
}

static void join_all(struct slices *s, size_t condition)
{
	for (uint32_t i = 0; i < s->walk->inputs; i++)
		s->leader[i] = i;
	for (size_t i = 0; i <= condition; i++)
		join(s, &s->inputs[i]);
}

static bool belongs(struct slices *s, size_t i, uint32_t leader)
{
	return s->inputs[i].count && leader_of(s, s->inputs[i].at[0]) == leader;
}

/* Conditions hold together, in whatever order they came: so the key is a sum. One that is there twice counts once. */
static uint64_t key_of(const struct walk *w, size_t i)
{
	const struct walk_condition *c = &w->condition[i];

	return hash_pair(w->node[c->expr].hash, c->value);
}

static uint64_t sum_keys(struct slices *s, size_t condition, uint32_t leader)
{
	const struct walk *w = s->walk;
	uint64_t key = hash_word(key_of(w, condition));
	struct map known;

	map_init(&known, s->arena);
	for (size_t i = 0; i < condition; i++)
		if (belongs(s, i, leader) && !(*map_put(&known, key_of(w, i)))++)
			key += key_of(w, i);
	return key;
}

uint64_t slice_key(struct slices *s, size_t condition)
{
	if (!s->inputs[condition].count)
		return 0;
	join_all(s, condition);
	return sum_keys(s, condition, leader_of(s, s->inputs[condition].at[0]));
}

struct slice slice_make(struct slices *s, size_t condition)
{
	struct slice out = {.own = s->inputs[condition].count};
	uint32_t leader;

	out.conditions.at = arena_alloc(s->arena, (condition + 1) * sizeof *out.conditions.at);
	out.inputs.at = arena_alloc(s->arena, (s->walk->inputs + out.own + 1) * sizeof *out.inputs.at);
	out.key = slice_key(s, condition);
	if (!out.own)
		return out;
	leader = leader_of(s, s->inputs[condition].at[0]);
	for (uint32_t i = 0; i < condition; i++)
		if (belongs(s, i, leader))
			out.conditions.at[out.conditions.count++] = i;
	memcpy(out.inputs.at, s->inputs[condition].at, out.own * sizeof *out.inputs.at);
	out.inputs.count = out.own;
	for (uint32_t i = 0; i < s->walk->inputs; i++) {
		bool own = false;

		for (size_t k = 0; k < out.own && !own; k++)
			own = out.inputs.at[k] == i;
		if (!own && leader_of(s, i) == leader)
			out.inputs.at[out.inputs.count++] = i;
	}
	return out;
}
