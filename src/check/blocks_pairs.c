/* SPDX-License-Identifier: MIT */
/*
 * A 2v-block is a pair of initial reads or final writes of one transaction, of two variables, with held(e1), held(e2),
 * held(e1,e2) and heldmid(e1,e2). There are as many as pairs of accesses in a transaction, so they are made only here,
 * from the distinct shapes, and only for pairs of variables that matter: some block must leave one of the two open,
 * that is, hold nothing all the way from e1 to e2 that every access to that variable holds. All others neither are
 * split nor split anything.
 *
 * Which interleavings of two operations with two others are not serializable is decided by the definition, once for
 * each combination (`table_make`): no serial order has the same reads and the same last writes. Which can happen is
 * decided by locks and periods: all of a block between e1 and e2 of another, unless held(e1,e2) excludes held(e1'),
 * held(e2') or heldmid(e1',e2'); crossing, where one of each is between the two of the other. heldmid is taken with the
 * locks of held(e1') and held(e2') in it: these are asked for as well.
 *
 * Cost: quadratic in the accesses of each distinct shape, and in the 2v-blocks of one pair of variables.
 */
#include "blocks_pairs.h"

#include "base/arena.h"
#include "base/hash.h"
#include "blocks_shapes.h"

/* How two blocks can interleave, seen from the one that is split. */
enum weave { INSIDE, CROSS_FIRST, CROSS_SECOND, WEAVES };

/* In which order the four operations then come: 0 and 1 are the block's own, 2 and 3 the other's. */
static const uint8_t weave_order[WEAVES][4] = {
	[INSIDE] = {0, 2, 3, 1},
	[CROSS_FIRST] = {0, 2, 1, 3},
	[CROSS_SECOND] = {2, 0, 3, 1},
};

/* A 2v-block. */
struct pair {
	uint32_t next; /* of the two variables */
	uint32_t shape;
	uint32_t first, second; /* items */
	guard_id held, middle;
	bool open;
};

struct pairs {
	struct blocks *b;
	struct shapes *s;
	struct map variables; /* two lives to the last pair, or PENDING */
	struct map known;     /* content of a pair */
	struct seg pair;
	uint32_t count;
	bool bad[2][16][WEAVES]; /* by: the other has the variables in the same order; operations; weave */
};

enum { PENDING = UINT32_MAX };

/* The table. */

struct operation {
	unsigned variable, transaction;
	bool write;
};

/* What the operations see and leave behind, in this order: 0 for the initial value, otherwise who wrote, from 1. */
static void view(const struct operation *op, const uint8_t *order, unsigned *seen)
{
	unsigned last[2] = {0};

	for (size_t i = 0; i < 4; i++) {
		const struct operation *o = &op[order[i]];

		seen[order[i]] = last[o->variable];
		if (o->write)
			last[o->variable] = order[i] + 1u;
	}
	seen[4] = last[0];
	seen[5] = last[1];
}

static bool same_view(const struct operation *op, const unsigned *a, const unsigned *b)
{
	for (size_t i = 0; i < 4; i++)
		if (!op[i].write && a[i] != b[i])
			return false;
	return a[4] == b[4] && a[5] == b[5];
}

static bool is_serializable(const struct operation *op, const uint8_t *order)
{
	static const uint8_t serial[2][4] = {{0, 1, 2, 3}, {2, 3, 0, 1}};
	unsigned seen[6], other[6];

	view(op, order, seen);
	for (size_t i = 0; i < 2; i++) {
		view(op, serial[i], other);
		if (same_view(op, seen, other))
			return true;
	}
	return false;
}

static void table_make(struct pairs *p)
{
	for (unsigned same = 0; same < 2; same++)
		for (unsigned ops = 0; ops < 16; ops++) {
			struct operation op[4] = {
				{0, 0, ops & 1}, {1, 0, ops & 2}, {!same, 1, ops & 4}, {same, 1, ops & 8}};

			for (size_t w = 0; w < WEAVES; w++)
				p->bad[same][ops][w] = !is_serializable(op, weave_order[w]);
		}
}

/* Calls for each pair of the shape. */
typedef void each_pair(struct pairs *p, const struct pair *pair);

static void pairs_of(struct pairs *p, uint32_t shape, each_pair *each)
{
	const struct shape *s = shape_at(p->s, shape);

	for (uint32_t i = 0; i < s->count; i++) {
		struct shape_walk w = shape_walk_from(s, i);

		if (!item_is_access(&s->item[i]))
			continue;
		while (shape_walk_next(p->b, &w))
			if (s->item[w.at].object != s->item[i].object)
				each(p, &(struct pair){0, shape, i, w.at, w.held, w.middle, shape_is_open(p->b, &w)});
	}
}

static const struct item *item_of(struct pairs *p, const struct pair *pair, bool second)
{
	return &shape_at(p->s, pair->shape)->item[second ? pair->second : pair->first];
}

static uint64_t variables_of(struct pairs *p, const struct pair *pair)
{
	uint64_t x = item_of(p, pair, false)->object, y = item_of(p, pair, true)->object;

	return x < y ? x << 32 | y : y << 32 | x;
}

static void note_open(struct pairs *p, const struct pair *pair)
{
	if (pair->open)
		*map_put(&p->variables, variables_of(p, pair)) = PENDING;
}

static uint64_t pair_content(struct pairs *p, const struct pair *pair)
{
	const struct item *i = item_of(p, pair, false), *j = item_of(p, pair, true);
	const struct shape *s = shape_at(p->s, pair->shape);
	uint64_t h = hash_pair((uint64_t)i->object << 32 | j->object, (uint64_t)i->held << 32 | j->held);

	h = hash_pair(h ^ (i->op | j->op << 1), (uint64_t)pair->held << 32 | pair->middle);
	return hash_pair(h ^ pair->open, blocks_blame(&s->block) << 32 ^ s->periods);
}

static void keep(struct pairs *p, const struct pair *pair)
{
	uint32_t last = map_get(&p->variables, variables_of(p, pair)), *known;
	struct pair *new;

	if (!last)
		return;
	known = map_put(&p->known, pair_content(p, pair));
	if (*known)
		return;
	*known = 1;
	new = seg_at(&p->pair, ++p->count, sizeof *new);
	*new = *pair;
	new->next = last == PENDING ? 0 : last;
	*map_put(&p->variables, variables_of(p, pair)) = p->count;
}

/* Comparing. */

static bool can_occur_between(struct pairs *p, const struct item *i, const struct pair *of)
{
	return !guard_excludes(&p->b->guards, of->held, i->held);
}

static bool can_weave(struct pairs *p, const struct pair *own, const struct pair *other, enum weave w)
{
	const struct item *first = item_of(p, other, false), *second = item_of(p, other, true);

	switch (w) {
	case INSIDE:
		return can_occur_between(p, first, own) && can_occur_between(p, second, own) &&
		       !guard_excludes(&p->b->guards, own->held, other->middle);
	case CROSS_FIRST:
		return can_occur_between(p, first, own) && can_occur_between(p, item_of(p, own, true), other);
	default:
		return can_occur_between(p, second, own) && can_occur_between(p, item_of(p, own, false), other);
	}
}

/* Whether the other can split this one. */
static bool splits(struct pairs *p, const struct pair *own, const struct pair *other)
{
	const struct item *i = item_of(p, own, false), *j = item_of(p, own, true), *k = item_of(p, other, false),
			  *l = item_of(p, other, true);
	bool same = k->object == i->object;
	unsigned ops = (i->op == ITEM_WRITE) | (j->op == ITEM_WRITE) << 1 | (k->op == ITEM_WRITE) << 2 |
		       (l->op == ITEM_WRITE) << 3;

	if (!period_sets_concurrent(&p->b->sets, shape_at(p->s, own->shape)->periods,
		    shape_at(p->s, other->shape)->periods))
		return false;
	for (enum weave w = 0; w < WEAVES; w++)
		if (p->bad[same][ops][w] && can_weave(p, own, other, w))
			return true;
	return false;
}

static void report_pair(struct pairs *p, const struct pair *own, const struct pair *other)
{
	const struct shape *s = shape_at(p->s, own->shape), *t = shape_at(p->s, other->shape);
	bool same = item_of(p, other, false)->object == item_of(p, own, false)->object;
	struct blocks_access at[] = {
		shape_access(p->s, s, own->first),
		shape_access(p->s, t, same ? other->first : other->second),
		shape_access(p->s, t, same ? other->second : other->first),
		shape_access(p->s, s, own->second),
	};

	blocks_report(p->b, s->block, "2v", at, 2);
}

static void compare_pair(struct pairs *p, const struct pair *own, uint32_t list)
{
	const struct shape *s = shape_at(p->s, own->shape);
	uint32_t *known = map_put(&p->known, hash_pair(variables_of(p, own) + 1, blocks_blame(&s->block)));

	if (*known || !own->open)
		return;
	for (uint32_t n = list; n; n = ((struct pair *)seg_at(&p->pair, n, sizeof(struct pair)))->next) {
		const struct pair *other = seg_at(&p->pair, n, sizeof *other);

		if (other != own && splits(p, own, other)) {
			*known = 1;
			report_pair(p, own, other);
			return;
		}
	}
}

void pairs_compare(struct blocks *b)
{
	struct pairs p = {.b = b, .s = b->shapes};

	table_make(&p);
	map_init(&p.variables, b->arena);
	map_init(&p.known, b->arena);
	seg_init(&p.pair, b->arena, sizeof(struct pair));
	for (uint32_t i = 1; i <= b->shapes->count; i++)
		pairs_of(&p, i, note_open);
	for (uint32_t i = 1; p.variables.count && i <= b->shapes->count; i++)
		pairs_of(&p, i, keep);
	for (uint32_t i = 1; i <= p.count; i++) {
		const struct pair *own = seg_at(&p.pair, i, sizeof *own);

		compare_pair(&p, own, map_get(&p.variables, variables_of(&p, own)));
	}
}
