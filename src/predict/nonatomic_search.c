/* SPDX-License-Identifier: MIT */
/*
 * State: `position` (by thread), `memory` (by variable), the hash of both, and for undoing them a frame a block that
 * was run, with what it has overwritten. `reads_left` says which variables still count, `writes_left` when what is in
 * memory is what will be left.
 */
#include "nonatomic_search.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "predict/nonatomic.h"
#include "predict/nonatomic_reach.h"

enum { NONE = HISTORY_NONE };

struct point {
	uint64_t low, high; /* never both 0 */
};

struct points {
	struct point *at;
	size_t mask, count;
};

struct frame {
	uint32_t block;   /* that was run last from here; NONE */
	uint32_t overwritten; /* the height of the undo stack here */
	bool sure;        /* it was right to run it at once: no other is tried */
};

struct undo {
	uint32_t variable, value;
};

struct attempt {
	const struct reach *r;
	const struct history *h;
	bool final;
	uint64_t left;
	uint32_t *position, *memory, *reads_left, *writes_left;
	struct frame *frame;
	uint32_t depth, deepest;
	struct undo *undo;
	uint32_t undos;
	struct point point;
	struct points seen;
	uint32_t *stuck;
	size_t stucks;
};

/* Points. */

static void toggle(struct attempt *a, uint64_t what, uint64_t value)
{
	uint64_t low = hash_pair(what, value);
	uint64_t high = hash_pair(value ^ 0x5851F42D4C957F2Du, what ^ 0x14057B7EF767814Fu);

	a->point.low ^= hash_word(low);
	a->point.high ^= hash_word(high);
}

static void toggle_thread(struct attempt *a, uint32_t t)
{
	toggle(a, (uint64_t)1 << 40 | t, a->position[t]);
}

static void toggle_variable(struct attempt *a, uint32_t x)
{
	if (a->final || a->reads_left[x])
		toggle(a, (uint64_t)2 << 40 | x, a->memory[x]);
}

static bool points_put(struct points *p, struct point n)
{
	size_t i = (size_t)n.low & p->mask;

	for (; p->at[i].low || p->at[i].high; i = (i + 1) & p->mask)
		if (p->at[i].low == n.low && p->at[i].high == n.high)
			return false;
	p->at[i] = n;
	p->count++;
	return true;
}

static void points_grow(struct points *p, struct arena *arena)
{
	struct points more = {.mask = p->mask ? 2 * p->mask + 1 : 63};

	more.at = arena_alloc(arena, (more.mask + 1) * sizeof *more.at);
	for (size_t i = 0; p->at && i <= p->mask; i++)
		if (p->at[i].low || p->at[i].high)
			points_put(&more, p->at[i]);
	if (p->at)
		arena_recycle(arena, p->at, (p->mask + 1) * sizeof *p->at);
	*p = more;
}

/* Whether the search is here for the first time. */
static bool is_new(struct attempt *a)
{
	struct point here = a->point;

	if (!here.low && !here.high)
		here.low = 1;
	if (!a->seen.at || 2 * a->seen.count > a->seen.mask)
		points_grow(&a->seen, a->h->arena);
	return points_put(&a->seen, here);
}

/* Blocks. */

static const struct use *uses_of(const struct attempt *a, uint32_t b)
{
	return a->h->use + a->h->block[b].first;
}

/* The first read of the block that memory does not explain; NULL. */
static const struct use *hindrance(const struct attempt *a, uint32_t b)
{
	const struct use *u = uses_of(a, b), *end = u + a->h->block[b].uses;

	for (; u < end; u++)
		if (u->reads && u->ext && a->memory[u->variable] && a->memory[u->variable] != u->ext)
			return u;
	return NULL;
}

static uint32_t next_of(const struct attempt *a, uint32_t t)
{
	if (a->position[t] == history_length(a->h, t))
		return NONE;
	return a->h->chain[a->h->chain_at[t] + a->position[t]];
}

/* Whether nothing that must come first is missing: what is missing of a thread begins with its next block. */
static bool is_due(const struct attempt *a, uint32_t b)
{
	for (uint32_t t = 0; t < a->h->q->threads; t++) {
		uint32_t n = next_of(a, t);

		if (n != NONE && n != b && reach_before(a->r, n, b))
			return false;
	}
	return true;
}

/* Whether to run it changes nothing: no writes, and nothing becomes known by it. */
static bool only_looks(const struct attempt *a, uint32_t b)
{
	const struct use *u = uses_of(a, b), *end = u + a->h->block[b].uses;

	for (; u < end; u++)
		if (u->writes || (u->ext && !a->memory[u->variable]))
			return false;
	return true;
}

static void put_memory(struct attempt *a, uint32_t x, uint32_t value)
{
	if (a->memory[x] == value)
		return;
	a->undo[a->undos++] = (struct undo){x, a->memory[x]};
	a->memory[x] = value;
}

/* Counts the use's reads and writes up or down. */
static void count_use(struct attempt *a, const struct use *u, uint32_t by)
{
	if (u->reads && u->ext)
		a->reads_left[u->variable] += by;
	if (u->writes)
		a->writes_left[u->variable] += by;
}

static void run_block(struct attempt *a, uint32_t b)
{
	const struct use *u = uses_of(a, b), *end = u + a->h->block[b].uses;
	uint32_t t = a->h->block[b].thread;

	for (; u < end; u++) {
		toggle_variable(a, u->variable);
		count_use(a, u, (uint32_t)-1);
		if (u->reads && u->ext)
			put_memory(a, u->variable, u->ext);
		if (u->writes)
			put_memory(a, u->variable, u->exp);
		toggle_variable(a, u->variable);
	}
	toggle_thread(a, t);
	a->position[t]++;
	toggle_thread(a, t);
}

static void undo_block(struct attempt *a, uint32_t b, uint32_t undos, struct point back)
{
	const struct use *u = uses_of(a, b), *end = u + a->h->block[b].uses;

	for (; u < end; u++)
		count_use(a, u, 1);
	while (a->undos > undos) {
		a->undos--;
		a->memory[a->undo[a->undos].variable] = a->undo[a->undos].value;
	}
	a->position[a->h->block[b].thread]--;
	a->point = back;
}

/* What was written last is what is left; if that is wrong there is no need to go on. */
static bool spoils_final(const struct attempt *a, uint32_t b)
{
	const struct use *u = uses_of(a, b), *end = u + a->h->block[b].uses;

	for (; a->final && u < end; u++) {
		uint32_t x = u->variable, left = a->h->final[x];

		if (u->writes && a->writes_left[x] == 1 && left && u->exp && u->exp != left)
			return true;
	}
	return false;
}

static bool leaves_final(const struct attempt *a)
{
	for (uint32_t x = 0; x < a->h->q->variables; x++)
		if (a->h->final[x] && a->memory[x] && a->memory[x] != a->h->final[x])
			return false;
	return true;
}

/* Choosing. */

static bool can_run(const struct attempt *a, uint32_t b)
{
	return !hindrance(a, b) && is_due(a, b) && !spoils_final(a, b);
}

/* The block to run next from here: the best ranked behind the one that was tried last. NONE if there is no other. */
static uint32_t choose(struct attempt *a, struct frame *f)
{
	uint32_t best = NONE, last = f->block;

	if (f->sure)
		return NONE;
	for (uint32_t t = 0; t < a->h->q->threads; t++) {
		uint32_t b = next_of(a, t), rank = b == NONE ? 0 : a->h->block[b].rank;

		if (b == NONE || (last != NONE && rank <= a->h->block[last].rank) || !can_run(a, b))
			continue;
		if (last == NONE && only_looks(a, b)) {
			f->sure = true;
			return b;
		}
		if (best == NONE || rank < a->h->block[best].rank)
			best = b;
	}
	return best;
}

/* Nobody has come this far: what each thread would have to read now. */
static void note_stuck(struct attempt *a)
{
	if (a->depth < a->deepest || (a->depth == a->deepest && a->stucks))
		return;
	a->deepest = a->depth;
	a->stucks = 0;
	for (uint32_t t = 0; t < a->h->q->threads; t++) {
		uint32_t b = next_of(a, t);
		const struct use *u = b == NONE ? NULL : hindrance(a, b);

		if (u)
			a->stuck[a->stucks++] = u->first;
	}
}

static void *allot(const struct attempt *a, size_t count, size_t size)
{
	return arena_alloc(a->h->arena, (count + 1) * size);
}

static void attempt_make(struct attempt *a, const struct reach *r, bool final, uint64_t budget)
{
	const struct history *h = r->h;
	uint32_t variables = h->q->variables;

	*a = (struct attempt){.r = r, .h = h, .final = final, .left = budget};
	a->position = allot(a, h->q->threads, sizeof *a->position);
	a->stuck = allot(a, h->q->threads, sizeof *a->stuck);
	a->memory = allot(a, variables, sizeof *a->memory);
	a->reads_left = allot(a, variables, sizeof *a->reads_left);
	a->writes_left = allot(a, variables, sizeof *a->writes_left);
	a->frame = allot(a, (size_t)h->q->blocks + 1, sizeof *a->frame);
	a->undo = allot(a, 2 * (size_t)h->uses, sizeof *a->undo);
	memcpy(a->memory, h->initial, variables * sizeof *a->memory);
	for (uint32_t i = 0; i < h->uses; i++)
		count_use(a, &h->use[i], 1);
}

static struct search_result result_found(struct attempt *a)
{
	uint32_t *serial = allot(a, a->depth, sizeof *serial);

	for (uint32_t i = 0; i < a->depth; i++)
		serial[i] = a->frame[i].block;
	return (struct search_result){.end = SEARCH_FOUND, .serial = serial, .leaves_final = leaves_final(a)};
}

struct search_result search_serial(const struct reach *r, bool final, uint64_t budget)
{
	struct attempt a;
	struct point *back;

	attempt_make(&a, r, final, budget);
	back = allot(&a, (size_t)r->h->q->blocks + 1, sizeof *back);
	a.frame[0] = (struct frame){.block = NONE};
	while (a.depth < r->h->q->blocks) {
		struct frame *f = &a.frame[a.depth];
		uint32_t b = choose(&a, f);

		if (b == NONE && f->block == NONE)
			note_stuck(&a);
		if (b == NONE && a.depth-- == 0)
			return (struct search_result){.end = SEARCH_NONE, .stuck = a.stuck, .stucks = a.stucks};
		if (b == NONE) {
			f = &a.frame[a.depth];
			undo_block(&a, f->block, f->overwritten, back[a.depth]);
			continue;
		}
		if (!a.left--)
			return (struct search_result){.end = SEARCH_OPEN};
		f->block = b;
		f->overwritten = a.undos;
		back[a.depth] = a.point;
		run_block(&a, b);
		if (is_new(&a))
			a.frame[++a.depth] = (struct frame){.block = NONE};
		else
			undo_block(&a, b, f->overwritten, back[a.depth]);
	}
	return result_found(&a);
}
