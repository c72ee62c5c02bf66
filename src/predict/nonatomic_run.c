/* SPDX-License-Identifier: MIT */
#include "nonatomic_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "predict/whole.h"

enum { NONE = UINT32_MAX };

/* Accesses. */

struct maker {
	struct nonatomic_run *r;
	uint32_t *variable; /* by location: its present life + 1; 0: none yet */
};

static void op_add(struct maker *m, uint32_t step, struct nonatomic_op op)
{
	m->r->valued |= op.known;
	m->r->op[m->r->ops] = op;
	m->r->step[m->r->ops++] = step;
}

static uint32_t variable_of(struct maker *m, uint32_t loc, bool anew)
{
	if (anew || !m->variable[loc])
		m->variable[loc] = ++m->r->variables;
	return m->variable[loc] - 1;
}

/* Memory whose first access is a write would otherwise have had any value before. */
static void initial_find(struct maker *m, uint32_t i, uint32_t loc, bool fresh)
{
	struct nonatomic_value *to = &m->r->initial[m->variable[loc] - 1];

	if (fresh && m->r->whole->step[i].kind == STEP_WRITE)
		to->known = whole_was(m->r->whole, i, loc, &to->value);
}

static void access_add(struct maker *m, uint32_t i, uint32_t loc)
{
	const struct whole *w = m->r->whole;
	const struct step *s = &w->step[i];
	bool anew = w->event[s->event].kind == EVENT_ALLOC, fresh = !m->variable[loc];
	struct nonatomic_op op = {.variable = variable_of(m, loc, anew)};
	bool known = whole_value(w, i, loc, &op.value);

	initial_find(m, i, loc, fresh);
	if (anew)
		return;
	if (step_reads(s)) {
		op.known = known && s->kind == STEP_READ;
		op.in_run = s->kind == STEP_UPDATE;
		op_add(m, i, op);
	}
	if (step_writes(s)) {
		op.known = known;
		op.in_run = false;
		op.writes = true;
		op_add(m, i, op);
	}
}

void nonatomic_run_make(struct nonatomic_run *r, struct arena *a, const struct whole *w)
{
	struct maker m = {r, arena_alloc(a, ((size_t)w->locs + 1) * sizeof(uint32_t))};
	size_t most = 1;

	for (uint32_t i = 0; i < w->steps; i++)
		most += step_is_access(&w->step[i]) ? 2 * (size_t)w->step[i].locs : 0;
	*r = (struct nonatomic_run){.whole = w};
	r->op = arena_alloc(a, most * sizeof *r->op);
	r->step = arena_alloc(a, most * sizeof *r->step);
	r->initial = arena_alloc(a, most * sizeof *r->initial);
	for (uint32_t i = 0; i < w->steps; i++)
		for (uint32_t k = 0; step_is_access(&w->step[i]) && k < w->step[i].locs; k++)
			access_add(&m, i, w->step[i].object + k);
}

uint64_t nonatomic_run_event(const struct nonatomic_run *r, size_t op)
{
	return r->whole->event[r->whole->step[r->step[op]].event].seq;
}

/* Blocks. */

struct cutter {
	const struct nonatomic_run *r;
	struct nonatomic_question *q;
	struct nonatomic_op *op;
	uint32_t *thread_of;
	struct nonatomic_order *order;
	struct nonatomic_span *span; /* sorted by thread and begin */
	size_t spans;
	struct cut {
		size_t span;           /* the thread's next one */
		uint32_t inside;       /* the block of the span that it is in; NONE */
		uint32_t first, last;  /* its blocks; NONE */
	} *cut; /* by thread */
	uint32_t *block; /* by step; NONE */
};

static int compare_spans(const void *left, const void *right)
{
	const struct nonatomic_span *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to > b->to ? -1 : a->to < b->to;
}

static bool is_of(const struct cutter *c, size_t span, uint32_t thread)
{
	return span < c->spans && c->span[span].thread == c->r->whole->thread[thread].id;
}

/* Whether the thread's event is in a span. Moves on to the thread's next span, over those that begin in the last. */
static bool is_inside(struct cutter *c, uint32_t thread, uint64_t seq)
{
	struct cut *t = &c->cut[thread];

	while (is_of(c, t->span, thread) && c->span[t->span].to < seq) {
		uint64_t end = c->span[t->span].to;

		t->inside = NONE;
		do
			t->span++;
		while (is_of(c, t->span, thread) && c->span[t->span].from <= end);
	}
	return is_of(c, t->span, thread) && c->span[t->span].from <= seq;
}

static uint32_t block_for(struct cutter *c, const struct step *s)
{
	struct cut *t = &c->cut[s->thread];
	bool inside = is_inside(c, s->thread, c->r->whole->event[s->event].seq);

	if (inside && t->inside != NONE)
		return t->inside;
	c->thread_of[c->q->blocks] = s->thread;
	t->last = c->q->blocks++;
	t->first = t->first == NONE ? t->last : t->first;
	t->inside = inside ? t->last : (uint32_t)NONE;
	return t->last;
}

static void order_add(struct cutter *c, uint32_t before, uint32_t after)
{
	if (before != NONE && after != NONE && before != after)
		c->order[c->q->orders++] = (struct nonatomic_order){before, after};
}

/* A thread begins after its fork and ends before its join. */
static void orders_make(struct cutter *c)
{
	const struct whole *w = c->r->whole;

	for (uint32_t t = 0; t < w->threads; t++) {
		const struct whole_thread *k = &w->thread[t];

		order_add(c, k->fork == NO_STEP ? (uint32_t)NONE : c->block[k->fork], c->cut[t].first);
		order_add(c, c->cut[t].last, k->join == NO_STEP ? (uint32_t)NONE : c->block[k->join]);
	}
}

static void cutter_make(struct cutter *c, struct arena *a, const struct nonatomic_blocks *b)
{
	const struct whole *w = c->r->whole;

	c->op = arena_alloc(a, (c->r->ops + 1) * sizeof *c->op);
	c->thread_of = arena_alloc(a, ((size_t)w->steps + 1) * sizeof *c->thread_of);
	c->block = arena_alloc(a, ((size_t)w->steps + 1) * sizeof *c->block);
	c->order = arena_alloc(a, (2 * (size_t)w->threads + 1) * sizeof *c->order);
	c->cut = arena_alloc(a, ((size_t)w->threads + 1) * sizeof *c->cut);
	c->span = arena_alloc(a, (b->spans + 1) * sizeof *c->span);
	c->spans = b->spans;
	if (c->r->ops)
		memcpy(c->op, c->r->op, c->r->ops * sizeof *c->op);
	if (b->spans)
		memcpy(c->span, b->span, b->spans * sizeof *c->span);
	qsort(c->span, c->spans, sizeof *c->span, compare_spans);
	for (uint32_t t = 0; t < w->threads; t++) {
		c->cut[t] = (struct cut){0, NONE, NONE, NONE};
		while (c->cut[t].span < c->spans && !is_of(c, c->cut[t].span, t))
			c->cut[t].span++;
	}
}

static void blocks_make(struct cutter *c)
{
	const struct whole *w = c->r->whole;
	size_t op = 0;

	for (uint32_t i = 0; i < w->steps; i++) {
		const struct step *s = &w->step[i];
		bool matters = step_is_access(s) || s->kind == STEP_FORK || s->kind == STEP_JOIN;

		c->block[i] = matters ? block_for(c, s) : (uint32_t)NONE;
		for (; op < c->r->ops && c->r->step[op] == i; op++)
			c->op[op].block = c->block[i];
	}
}

struct nonatomic_answer nonatomic_run_judge(const struct nonatomic_run *r, struct arena *a,
	const struct nonatomic_blocks *blocks)
{
	struct nonatomic_question q = {.ops = r->ops, .threads = r->whole->threads, .variables = r->variables,
		.initial = r->initial};
	struct cutter c = {.r = r, .q = &q};

	cutter_make(&c, a, blocks);
	blocks_make(&c);
	orders_make(&c);
	q.op = c.op;
	q.thread_of = c.thread_of;
	q.order = c.order;
	q.budget = blocks->budget;
	return nonatomic_judge(a, &q);
}
