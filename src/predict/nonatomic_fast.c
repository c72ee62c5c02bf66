/* SPDX-License-Identifier: MIT */
#include "nonatomic_fast.h"

#include "base/arena.h"
#include "predict/nonatomic_history.h"

enum { NONE = HISTORY_NONE, LATER_MOST = 256 };

struct looking {
	const struct history *h;
	struct fast *to;
	uint64_t left; /* of the budget */
	bool final;
};

static bool found(struct looking *l, enum nonatomic_how how, uint32_t first, uint32_t second, uint32_t third)
{
	*l->to = (struct fast){how, {first, second, third}, second == NONE ? 1 : third == NONE ? 2 : 3};
	return true;
}

static const struct use *use_at(const struct history *h, uint32_t i)
{
	return i == NONE ? NULL : &h->use[i];
}

/* Whether the block of the use cannot be the one that left the value. */
typedef bool excuse(const struct history *h, uint32_t b, const uint32_t *blocks);

/* Whether all uses that leave the value in x, or may, are excused. */
static bool all_excused(struct looking *l, const struct use *value_of, excuse *excused, const uint32_t *blocks)
{
	const struct history *h = l->h;

	for (int unknown = 0; unknown < 2; unknown++) {
		uint32_t first = history_leaving(h, value_of->variable, unknown ? 0 : value_of->ext);

		for (const struct use *u = use_at(h, first); u; u = use_at(h, u->same)) {
			if (!l->left || !excused(h, u->block, blocks))
				return false;
			l->left--;
		}
	}
	return true;
}

/* C_WRW'; blocks: Q. */
static bool is_not_before(const struct history *h, uint32_t b, const uint32_t *blocks)
{
	return b == blocks[0] || history_precedes(h, blocks[0], b);
}

static bool has_no_source(struct looking *l, const struct use *q)
{
	uint32_t initial = l->h->initial[q->variable];

	return q->reads && q->ext && initial && q->ext != initial && all_excused(l, q, is_not_before, &q->block);
}

/* NB(Q,P); blocks: Q, P. */
static bool is_far(const struct history *h, uint32_t b, const uint32_t *blocks)
{
	const uint32_t q = blocks[0], p = blocks[1];

	return b == q || b == p || history_precedes(h, p, b) || history_precedes(h, b, q);
}

static bool cannot_precede(struct looking *l, const struct use *q, const struct use *p)
{
	if (!p->reads || !p->ext || !q->writes || !q->exp || q->exp == p->ext)
		return false;
	return all_excused(l, p, is_far, (const uint32_t[]){q->block, p->block});
}

/* OS(P,Q); blocks: Q, P. */
static bool is_no_other(const struct history *h, uint32_t b, const uint32_t *blocks)
{
	return b == blocks[1] || is_not_before(h, b, blocks);
}

static bool is_only_source(struct looking *l, const struct use *p, const struct use *q)
{
	uint32_t initial = l->h->initial[q->variable];

	return q->reads && q->ext && initial && q->ext != initial && p->writes &&
	       all_excused(l, q, is_no_other, (const uint32_t[]){q->block, p->block});
}

/* Whether p's block comes before q's in every serial order that explains the run, by what they do to one variable. */
static bool comes_before(struct looking *l, const struct use *p, const struct use *q)
{
	return cannot_precede(l, q, p) || is_only_source(l, p, q);
}

/* C_RWW', each. y is of Q. */
static bool excludes_each_other(struct looking *l, const struct use *y, const struct use *p)
{
	const struct use *z = history_use(l->h, p->block, y->variable);

	return z && comes_before(l, y, z) && found(l, NONATOMIC_RWW_EACH, p->first, y->first, z->first);
}

/* C_RWW', later; blocks: Q, P, R. */
static bool is_outside(const struct history *h, uint32_t b, const uint32_t *blocks)
{
	const uint32_t q = blocks[0], p = blocks[1], r = blocks[2];

	return b == p || b == q || b == r || history_precedes(h, b, q) || history_precedes(h, r, b) ||
	       history_precedes(h, b, p);
}

/* The first use of the variable whose block began after b. */
static uint32_t first_behind(const struct history *h, uint32_t x, uint32_t b)
{
	uint32_t low = h->of_at[x], high = h->of_at[x + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (h->use[h->of[middle]].block <= b)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_missed_later(struct looking *l, const struct use *y, const struct use *p)
{
	const struct history *h = l->h;
	uint32_t from = first_behind(h, y->variable, y->block), to = h->of_at[y->variable + 1];

	for (uint32_t i = from; y->exp && i < to && i - from < LATER_MOST && l->left; i++, l->left--) {
		const struct use *r = &h->use[h->of[i]];

		if (history_precedes(h, y->block, r->block) && r->reads && r->ext && r->ext != y->exp &&
			all_excused(l, r, is_outside, (const uint32_t[]){y->block, p->block, r->block}))
			return found(l, NONATOMIC_RWW_LATER, p->first, y->last_write, r->first);
	}
	return false;
}

/* C_RWW', final; blocks: Q, P. */
static bool is_earlier(const struct history *h, uint32_t b, const uint32_t *blocks)
{
	const uint32_t q = blocks[0], p = blocks[1];

	return b == q || b == p || history_precedes(h, b, q) || history_precedes(h, b, p);
}

static bool would_be_left(struct looking *l, const struct use *y, const struct use *p)
{
	struct use last = {.variable = y->variable, .ext = l->h->final[y->variable]};

	if (!l->final || !last.ext || !y->exp || last.ext == y->exp)
		return false;
	return all_excused(l, &last, is_earlier, (const uint32_t[]){y->block, p->block}) &&
	       found(l, NONATOMIC_RWW_FINAL, p->first, y->last_write, NONE);
}

/* q and p are uses of one variable by blocks of which neither was over when the other began. */
static bool is_rww(struct looking *l, const struct use *q, const struct use *p)
{
	const struct history_block *k = &l->h->block[q->block];

	if (!comes_before(l, p, q))
		return false;
	for (const struct use *y = l->h->use + k->first; y < l->h->use + k->first + k->uses; y++)
		if (excludes_each_other(l, y, p) || (y->writes && (is_missed_later(l, y, p) || would_be_left(l, y, p))))
			return true;
	return false;
}

/* The uses of x, as their blocks begin. `open` has those whose blocks go on: one a thread at most. */
static bool looks_at(struct looking *l, uint32_t x, const struct use **open)
{
	const struct history *h = l->h;
	size_t count = 0;

	for (uint32_t i = h->of_at[x]; i < h->of_at[x + 1] && l->left; i++, l->left--) {
		const struct use *u = &h->use[h->of[i]];
		const struct history_block *k = &h->block[u->block];
		size_t kept = 0;

		if (has_no_source(l, u))
			return found(l, NONATOMIC_WRW, u->first, NONE, NONE);
		for (size_t n = 0; n < count; n++) {
			if (h->block[open[n]->block].end < k->begin)
				continue;
			if (is_rww(l, u, open[n]) || is_rww(l, open[n], u))
				return true;
			open[kept++] = open[n];
		}
		count = kept;
		open[count++] = u;
	}
	return false;
}

bool fast_finds(const struct history *h, bool final, uint64_t budget, struct fast *to)
{
	struct looking l = {h, to, budget, final};
	const struct use **open;

	if (h->local[0] != NONE) {
		*to = (struct fast){NONATOMIC_LOCAL, {h->local[1], h->local[0]}, 2};
		return true;
	}
	open = arena_alloc(h->arena, ((size_t)h->q->threads + 1) * sizeof *open);
	for (uint32_t x = 0; x < h->q->variables; x++)
		if (looks_at(&l, x, open))
			return true;
	return false;
}
