/* SPDX-License-Identifier: MIT */
#include "speculate.h"

#include "base/fail.h"
#include "base/hash.h"

static uint64_t edge_key(struct place branch, uint32_t edge)
{
	return hash_pair(place_key(branch), edge);
}

/* ---- which edges were taken ---- */

static void find_hot(struct speculation *s)
{
	struct follow *f = &s->follow;

	f->units = &s->units;
	map_init(&f->modules, s->arena);
	for (size_t i = 0; i < f->records; i++) {
		const struct walk_record *r = &f->record[i];
		struct unit *u = r->kind == WALK_MODULE ? units_find(&s->units, r->a) : NULL;

		if (u)
			*map_put(&f->modules, r->module) = u->number + 1;
		if (r->kind != WALK_BRANCH && r->kind != WALK_SWITCH)
			continue;
		u = follow_unit(f, r);
		if (u && follow_edge(u, r) != UINT32_MAX)
			*map_put(&s->hot, edge_key((struct place){u->number, r->ordinal}, follow_edge(u, r))) = 1;
	}
}

/* ---- regions ---- */

static void add_region(struct speculation *s, struct region *r, struct frame *frame)
{
	struct unit_function *f = frame->function;

	s->known += r->known;
	s->unknown += r->unknown;
	s->deep += r->deep;
	s->cut_short += r->cut_short;
	if (!r->ends) {
		s->aborts++;
		return;
	}
	r->arm = region_arm(&s->follow, f, frame->to, f->block[frame->from].join);
	r->waiting = frame->waiting;
	frame->waiting = r;
	s->region = arena_reserve(s->arena, s->region, &s->region_room, s->regions, sizeof *s->region);
	s->region[s->regions++] = r;
}

static void at_edge(struct speculation *s, uint16_t t, struct place p, uint32_t edge)
{
	uint64_t key = edge_key(p, edge);
	uint32_t *done, *cold;

	if (map_get(&s->hot, key))
		return;
	done = map_put(&s->done, hash_pair(key, t));
	if (*done)
		return;
	*done = 1;
	cold = map_put(&s->cold, key);
	s->edges += !*cold;
	*cold = 1;
	add_region(s, region_walk(&s->follow, t, p, edge), follow_thread(&s->follow, t)->top);
}

/* While there is no other thread nothing can come in between. */
static void at_branch(void *to, struct follow *f, uint16_t t, struct place p)
{
	struct speculation *s = to;
	struct frame *frame = follow_thread(f, t)->top;
	struct unit_block *block = &frame->function->block[frame->from];

	for (uint32_t i = 0; f->alive > 1 && i < block->tos; i++)
		if (block->to[i] != frame->to)
			at_edge(s, t, p, i);
}

static void joined(struct follow *f, struct region *r)
{
	struct follow_thread *thread = follow_thread(f, r->thread);

	r->joined = true;
	r->after = f->seen_count;
	r->join_hold = thread->hold;
	r->join_cut = thread->cut;
}

static void at_step(void *to, struct follow *f, uint16_t t, uint32_t block)
{
	struct frame *frame = follow_thread(f, t)->top;
	struct region *r = frame->waiting, *rest = NULL, *next;

	(void)to;
	for (; r; r = next) {
		next = r->waiting;
		if (!r->arm[block]) {
			joined(f, r);
		} else {
			r->waiting = rest;
			rest = r;
		}
	}
	frame->waiting = rest;
}

static void at_end(void *to, struct follow *f, uint16_t t, struct frame *frame)
{
	(void)to, (void)t;
	for (struct region *r = frame->waiting; r; r = r->waiting)
		joined(f, r);
}

bool speculate(struct speculation *s, struct arena *a, const char *const paths[2], struct fault *fault)
{
	*s = (struct speculation){.arena = a};
	map_init(&s->hot, a);
	map_init(&s->done, a);
	map_init(&s->cold, a);
	if (!units_open(&s->units, a, paths[0], fault) || !follow_open(&s->follow, a, paths[1], fault))
		return false;
	find_hot(s);
	s->follow.to = s;
	s->follow.branch = at_branch;
	s->follow.step = at_step;
	s->follow.left = at_end;
	follow_run(&s->follow, &s->units);
	triples_init(&s->triples, &s->follow);
	for (size_t i = 0; i < s->regions; i++)
		triples_of(&s->triples, s->region[i]);
	triples_finish(&s->triples);
	return true;
}
