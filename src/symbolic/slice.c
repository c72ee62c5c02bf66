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

/* One that is there twice counts once. */
static void note_keys(struct slices *s)
{
	const struct walk *w = s->walk;
	struct map known;

	map_init(&known, s->arena);
	for (size_t i = 0; i < w->conditions; i++) {
		uint64_t key = hash_pair(w->node[w->condition[i].expr].hash, w->condition[i].value);

		s->key[i] = (*map_put(&known, key))++ ? 0 : key ? key : 1;
	}
}

void slices_init(struct slices *s, const struct walk *w, struct arena *a)
{
	struct descent d = {.walk = w, .stamp = arena_alloc(a, (w->nodes + 1) * sizeof(uint32_t)),
		.stack = arena_alloc(a, (w->nodes + 1) * sizeof(uint32_t)),
		.found = arena_alloc(a, (w->inputs + 1) * sizeof(uint32_t)),
		.seen = arena_alloc(a, (w->inputs + 1) * sizeof(uint32_t))};

	*s = (struct slices){.walk = w, .arena = a, .inputs = arena_alloc(a, (w->conditions + 1) * sizeof *s->inputs),
		.key = arena_alloc(a, (w->conditions + 1) * sizeof *s->key),
		.leader = arena_alloc(a, (w->inputs + 1) * sizeof *s->leader)};
	note_keys(s);
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

/* Conditions hold together, in whatever order they came: so the key is a sum. */
uint64_t slice_key(struct slices *s, size_t condition)
{
	uint64_t key = hash_word(s->key[condition]);
	uint32_t leader;

	if (!s->inputs[condition].count || !s->key[condition])
		return 0;
	join_all(s, condition);
	leader = leader_of(s, s->inputs[condition].at[0]);
	for (size_t i = 0; i < condition; i++)
		if (belongs(s, i, leader))
			key += s->key[i];
	return key ? key : 1;
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
	join_all(s, condition);
	leader = leader_of(s, s->inputs[condition].at[0]);
	for (uint32_t i = 0; i < condition; i++)
		if (s->key[i] && belongs(s, i, leader))
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
