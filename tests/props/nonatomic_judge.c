/* SPDX-License-Identifier: MIT */
/*
 * nonatomic_judge() against all serial orders, on small random runs.
 *
 *   nonatomic_judge [--count N] [--seed S]
 *
 * The answer is made here from the definition: every order of the blocks that keeps each thread's own and what was said
 * to come first is run, access by access, on a memory of its own; a cycle of conflicts is one of the closure of all
 * pairs. The judge must say the same. Besides:
 *
 * - the search by itself, without the conditions before it, says the same;
 * - a serial order that it gives does explain the run, with the final state if it says so;
 * - "not atomic" comes with an access that shows it;
 * - of the same run with some values hidden it claims nothing more than of the whole;
 * - if a read has returned what nobody wrote, that variable might as well have no values;
 * - with a budget of next to nothing it says the same or "not decided".
 *
 * Printed: how many of those that are not atomic were recognised by what.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/opts.h"
#include "base/rng.h"
#include "predict/nonatomic.h"
#include "predict/nonatomic_history.h"
#include "predict/nonatomic_reach.h"
#include "predict/nonatomic_saturate.h"
#include "predict/nonatomic_search.h"
#include "spare.h"

enum { OPS_MOST = 12, THREADS_MOST = 4, VARIABLES_MOST = 3, ORDERS_MOST = 2, EVERY = 4 };

struct sample {
	struct nonatomic_op op[OPS_MOST];
	uint32_t thread_of[OPS_MOST];
	struct nonatomic_value initial[VARIABLES_MOST];
	struct nonatomic_order order[ORDERS_MOST];
	struct nonatomic_question q;
	uint64_t final[VARIABLES_MOST];
	bool written[VARIABLES_MOST];
};

/* ---- Random runs. ---- */

struct maker {
	struct rng rng;
	struct sample *s;
	uint32_t open[THREADS_MOST]; /* block + 1 */
	uint32_t left[THREADS_MOST]; /* accesses that its block still has */
	uint64_t memory[VARIABLES_MOST];
	uint32_t values;
};

static uint32_t block_of(struct maker *m, uint32_t t)
{
	struct nonatomic_question *q = &m->s->q;

	if (!m->left[t]) {
		m->s->thread_of[q->blocks] = t;
		m->open[t] = ++q->blocks;
		m->left[t] = rng_below(&m->rng, 3) ? 1 + rng_below(&m->rng, 4) : 1;
	}
	m->left[t]--;
	return m->open[t] - 1;
}

static void make_op(struct maker *m)
{
	struct nonatomic_question *q = &m->s->q;
	uint32_t t = rng_below(&m->rng, q->threads), x = rng_below(&m->rng, q->variables);
	struct nonatomic_op *op = &m->s->op[q->ops++];

	*op = (struct nonatomic_op){.block = block_of(m, t), .variable = x, .known = true};
	op->writes = rng_below(&m->rng, 2);
	if (op->writes)
		m->memory[x] = rng_below(&m->rng, m->values);
	m->s->written[x] |= op->writes;
	op->value = m->s->final[x] = m->memory[x];
}

static void make_order(struct maker *m)
{
	struct nonatomic_question *q = &m->s->q;
	uint32_t j = 1 + rng_below(&m->rng, (uint32_t)q->ops - 1), i = rng_below(&m->rng, j);
	struct nonatomic_order *o = &m->s->order[q->orders];

	*o = (struct nonatomic_order){m->s->op[i].block, m->s->op[j].block};
	q->orders += m->s->thread_of[o->before] != m->s->thread_of[o->after];
}

static void make_sample(struct sample *s, uint64_t seed)
{
	struct maker m = {.rng = {seed}, .s = s};
	uint32_t ops;

	*s = (struct sample){.q = {.op = s->op, .thread_of = s->thread_of, .initial = s->initial, .order = s->order}};
	s->q.threads = 2 + rng_below(&m.rng, THREADS_MOST - 1);
	s->q.variables = 1 + rng_below(&m.rng, VARIABLES_MOST);
	m.values = 2 + rng_below(&m.rng, 4);
	ops = 3 + rng_below(&m.rng, OPS_MOST - 2);
	for (uint32_t x = 0; x < s->q.variables; x++)
		s->initial[x].known = true;
	while (s->q.ops < ops)
		make_op(&m);
	while (rng_below(&m.rng, 8) == 0 && s->q.orders < ORDERS_MOST)
		make_order(&m);
}

/* ---- The definition. ---- */

struct brute {
	const struct sample *s;
	uint64_t memory[VARIABLES_MOST];
	bool done[OPS_MOST];
	uint32_t count;
	bool explained, explained_final;
};

static bool is_next(const struct brute *b, uint32_t block)
{
	const struct nonatomic_question *q = &b->s->q;

	for (uint32_t k = 0; k < block; k++)
		if (q->thread_of[k] == q->thread_of[block] && !b->done[k])
			return false;
	for (size_t i = 0; i < q->orders; i++)
		if (q->order[i].after == block && !b->done[q->order[i].before])
			return false;
	return !b->done[block];
}

/* Runs the block; false at a read that returns something else than it did. */
static bool perform(struct brute *b, uint32_t block)
{
	for (const struct nonatomic_op *op = b->s->q.op; op < b->s->q.op + b->s->q.ops; op++) {
		if (op->block != block)
			continue;
		if (op->writes)
			b->memory[op->variable] = op->value;
		else if (b->memory[op->variable] != op->value)
			return false;
	}
	return true;
}

static bool is_final(const struct brute *b)
{
	for (uint32_t x = 0; x < b->s->q.variables; x++)
		if (b->s->written[x] && b->memory[x] != b->s->final[x])
			return false;
	return true;
}

static void try_all(struct brute *b)
{
	uint64_t memory[VARIABLES_MOST];

	if (b->count == b->s->q.blocks) {
		b->explained = true;
		b->explained_final |= is_final(b);
	}
	memcpy(memory, b->memory, sizeof memory);
	for (uint32_t k = 0; k < b->s->q.blocks && !b->explained_final; k++) {
		if (!is_next(b, k))
			continue;
		if (perform(b, k)) {
			b->done[k] = true;
			b->count++;
			try_all(b);
			b->count--;
			b->done[k] = false;
		}
		memcpy(b->memory, memory, sizeof memory);
	}
}

static bool has_cycle(const struct nonatomic_question *q)
{
	bool after[OPS_MOST][OPS_MOST] = {0};

	for (size_t j = 0; j < q->ops; j++)
		for (size_t i = 0; i < j; i++) {
			const struct nonatomic_op *a = &q->op[i], *b = &q->op[j];

			after[a->block][b->block] |= a->block != b->block &&
				(q->thread_of[a->block] == q->thread_of[b->block] ||
					(a->variable == b->variable && (a->writes || b->writes)));
		}
	for (size_t i = 0; i < q->orders; i++)
		after[q->order[i].before][q->order[i].after] = true;
	for (size_t k = 0; k < q->blocks; k++)
		for (size_t i = 0; i < q->blocks; i++)
			for (size_t j = 0; j < q->blocks; j++)
				after[i][j] |= after[i][k] && after[k][j];
	for (size_t k = 0; k < q->blocks; k++)
		if (after[k][k])
			return true;
	return false;
}

static enum nonatomic_kind by_definition(const struct sample *s)
{
	struct brute b = {.s = s};

	try_all(&b);
	if (!b.explained)
		return NONATOMIC_VALUE;
	if (!b.explained_final)
		return NONATOMIC_FINAL;
	return has_cycle(&s->q) ? NONATOMIC_CYCLE : NONATOMIC_ATOMIC;
}

/* ---- What must hold. ---- */

struct totals {
	unsigned long kind[NONATOMIC_KINDS], how[NONATOMIC_KINDS][NONATOMIC_HOWS], wrong;
	unsigned long one, one_fast; /* not atomic by the values of a single variable, as in 002; by the fast conditions */
};

static bool serial_is_right(const struct sample *s, const struct nonatomic_answer *a)
{
	struct brute b = {.s = s};

	for (uint32_t i = 0; a->serial && i < s->q.blocks; i++) {
		if (a->serial[i] >= s->q.blocks || !is_next(&b, a->serial[i]) || !perform(&b, a->serial[i]))
			return false;
		b.done[a->serial[i]] = true;
	}
	if (!a->serial)
		return a->kind != NONATOMIC_CYCLE;
	return a->kind != NONATOMIC_CYCLE || is_final(&b);
}

static bool witness_is_right(const struct sample *s, const struct nonatomic_answer *a)
{
	for (size_t i = 0; i < a->witnesses; i++)
		if (a->witness[i] >= s->q.ops)
			return false;
	return a->witnesses || a->kind != NONATOMIC_VALUE || s->q.orders;
}

static struct nonatomic_answer judge(struct arena *a, const struct sample *s, uint64_t budget)
{
	struct nonatomic_question q = s->q;

	q.op = s->op;
	q.thread_of = s->thread_of;
	q.initial = s->q.initial ? s->initial : NULL;
	q.order = s->order;
	q.budget = budget;
	return nonatomic_judge(a, &q);
}

static bool claims_no_more(enum nonatomic_kind less, enum nonatomic_kind more)
{
	return less == NONATOMIC_UNDECIDED ? more > NONATOMIC_ATOMIC : less <= more;
}

/* Some values are hidden, of accesses and of what was there at first. */
static bool hidden_is_right(struct arena *a, const struct sample *s, enum nonatomic_kind kind, struct rng *rng)
{
	struct sample less = *s;

	less.q.initial = rng_below(rng, 2) ? less.initial : NULL;
	for (uint32_t x = 0; x < s->q.variables; x++)
		less.initial[x].known = rng_below(rng, 2);
	for (uint32_t i = 0; i < s->q.ops; i++)
		if (rng_below(rng, 4) == 0) {
			less.op[i].known = false;
			less.op[i].in_run = !less.op[i].writes && rng_below(rng, 2);
			less.op[i].value = 99;
		}
	return claims_no_more(judge(a, &less, 0).kind, kind);
}

/* A read has returned what nobody wrote: its variable's values count for nothing. */
static bool foreign_is_right(struct arena *a, const struct sample *s, struct rng *rng)
{
	struct sample foreign = *s, without = *s;
	uint32_t i = rng_below(rng, (uint32_t)s->q.ops), x = s->op[i].variable;
	struct nonatomic_answer answer;

	if (s->op[i].writes)
		return true;
	foreign.op[i].value = 99;
	without.initial[x].known = false;
	for (uint32_t k = 0; k < s->q.ops; k++)
		without.op[k].known = s->op[k].variable != x;
	answer = judge(a, &foreign, 0);
	return answer.unexplained == 1 && answer.kind == judge(a, &without, 0).kind;
}

/* The search alone, without what usually goes before it, and within what saturation leaves. */
static bool search_is_right(struct arena *a, const struct sample *s, enum nonatomic_kind kind)
{
	struct nonatomic_question q = s->q;
	struct history h;
	struct reach r;
	uint32_t op;

	q.op = s->op;
	q.thread_of = s->thread_of;
	q.initial = s->initial;
	q.order = s->order;
	history_make(&h, a, &q);
	if (h.local[0] != HISTORY_NONE || !reach_make(&r, &h))
		return kind == NONATOMIC_VALUE;
	for (int final = 0; final < 2; final++) {
		enum search_end end = kind >= (final ? NONATOMIC_FINAL : NONATOMIC_VALUE) ? SEARCH_NONE : SEARCH_FOUND;

		if (search_serial(&r, final, NONATOMIC_BUDGET).end != end)
			return false;
		if (!saturate(&r, final, NONATOMIC_BUDGET, &op))
			return end == SEARCH_NONE;
	}
	return true;
}

/* What else must hold; that takes more judging than the answer itself, and is asked of one run in EVERY. */
static const char *what_else_is_wrong(struct arena *a, const struct sample *s, enum nonatomic_kind kind, struct rng *rng)
{
	enum nonatomic_kind hasty = judge(a, s, 1 + rng_below(rng, 8)).kind;

	if (hasty != kind && hasty != NONATOMIC_UNDECIDED && !(hasty == NONATOMIC_FINAL && kind == NONATOMIC_VALUE))
		return "with a small budget it is another answer";
	if (!hidden_is_right(a, s, kind, rng))
		return "without some values it claims more";
	if (!search_is_right(a, s, kind))
		return "the search alone says something else";
	return foreign_is_right(a, s, rng) ? NULL : "a value from elsewhere changes the answer";
}

static const char *what_is_wrong(struct arena *a, const struct sample *s, struct rng *rng, struct totals *to)
{
	enum nonatomic_kind kind = by_definition(s);
	struct nonatomic_answer answer = judge(a, s, 0);

	to->kind[kind]++;
	to->how[answer.kind][answer.how]++;
	to->one += kind == NONATOMIC_VALUE && s->q.variables == 1;
	to->one_fast += kind == NONATOMIC_VALUE && s->q.variables == 1 && answer.how < NONATOMIC_SATURATION;
	if (answer.kind != kind)
		return nonatomic_kind_text[answer.kind];
	if (answer.unexplained || answer.open)
		return "something is left open";
	if (!serial_is_right(s, &answer))
		return "the serial order explains nothing";
	if (!witness_is_right(s, &answer))
		return "the witness is none";
	return rng_below(rng, EVERY) ? NULL : what_else_is_wrong(a, s, kind, rng);
}

/* ---- One run after the other. ---- */

static void print_sample(const struct sample *s)
{
	for (size_t i = 0; i < s->q.ops; i++)
		printf("  T%" PRIu32 " {%" PRIu32 "} %s x%" PRIu32 " = %" PRIu64 "\n", s->thread_of[s->op[i].block],
			s->op[i].block, s->op[i].writes ? "W" : "R", s->op[i].variable, s->op[i].value);
	for (size_t i = 0; i < s->q.orders; i++)
		printf("  {%" PRIu32 "} before {%" PRIu32 "}\n", s->order[i].before, s->order[i].after);
}

static void try_seed(uint64_t seed, struct totals *to)
{
	struct rng rng = {~seed};
	struct sample s;
	struct arena a;
	const char *wrong;

	spare_arena(&a);
	make_sample(&s, seed);
	wrong = what_is_wrong(&a, &s, &rng, to);
	if (wrong) {
		to->wrong++;
		printf("nonatomic_judge --seed %" PRIu64 " --count 1: %s, by definition %s\n", seed, wrong,
			nonatomic_kind_text[by_definition(&s)]);
		print_sample(&s);
	}
	arena_free(&a);
}

/* Which of the runs of a kind were recognised by what. Adds up those without a search. */
static void print_shares(const struct totals *t, enum nonatomic_kind kind, unsigned long *conditions,
	unsigned long *fast)
{
	double all = t->kind[kind] ? (double)t->kind[kind] : 1;

	printf("%-6s %9lu:", nonatomic_kind_text[kind], t->kind[kind]);
	for (int how = NONATOMIC_LOCAL; how <= NONATOMIC_SEARCH; how++) {
		unsigned long n = t->how[kind][how];

		*conditions += how < NONATOMIC_SATURATION ? n : 0;
		*fast += how < NONATOMIC_SEARCH ? n : 0;
		if (n)
			printf(" %s %.2f %%;", nonatomic_how_text[how], 100 * (double)n / all);
	}
	printf("\n");
}

/* Whether enough was recognised without a search. */
static bool print_totals(const struct totals *t, unsigned long count)
{
	unsigned long conditions = 0, fast = 0, all = t->kind[NONATOMIC_VALUE] + t->kind[NONATOMIC_FINAL];
	double percent = all ? 100 / (double)all : 0, one = t->one ? 100 * (double)t->one_fast / (double)t->one : 0;

	print_shares(t, NONATOMIC_VALUE, &conditions, &fast);
	print_shares(t, NONATOMIC_FINAL, &conditions, &fast);
	printf("%lu runs: %lu without a cycle, %lu with one that a serial order explains, %lu not atomic\n", count,
		t->kind[NONATOMIC_ATOMIC], t->kind[NONATOMIC_CYCLE], all);
	printf("recognised by the fast conditions: %.2f %%, of those by the values of a single variable %.2f %%; with "
		"saturation, before any search: %.2f %%\n", percent * (double)conditions, one, percent * (double)fast);
	return count < 10000 || (percent * (double)fast >= 99 && percent * (double)conditions >= 85 && one >= 95);
}

int main(int argc, char **argv)
{
	unsigned long count = 100000, seed = 1;
	const struct opt table[] = {
		{"count", 'n', OPT_COUNT, &count, "N", "how many random runs"},
		{"seed", 's', OPT_COUNT, &seed, "S", "of the first one"},
		{0},
	};
	struct totals t = {0};
	bool enough;

	if (opts_parse(table, "nonatomic_judge", argc, argv) > 0)
		die(STATUS_USAGE, "nonatomic_judge: no operands");
	for (unsigned long i = 0; i < count && t.wrong < 3; i++)
		try_seed(seed + i, &t);
	enough = print_totals(&t, count);
	printf("%d passed, %d failed\n", !t.wrong + enough, !!t.wrong + !enough);
	return t.wrong || !enough;
}
