/* SPDX-License-Identifier: MIT */
/*
 * A second opinion on tier A: on small random traces, for the same ideal, saturation and greed find an order exactly
 * when an SMT solver says that there is one. The encoding is 002's Figure 3 as it should be: a position an event;
 * threads' order; sections that exclude each other; each read behind its write, and no other write between them.
 *
 *   predict_z3 [--count N] [--seed S]
 *
 * z3 is a dependency of this test and of nothing else.
 */
#include <stdio.h>
#include <stdlib.h>
#include <z3.h>

#include "base/fail.h"
#include "base/opts.h"
#include "base/rng.h"
#include "predict/closure.h"
#include "predict/linear.h"
#include "predict_trace.h"
#include "spare.h"

enum { TRIPLES = 6 };

struct smt {
	Z3_context c;
	Z3_solver s;
	const struct ideal *d;
	Z3_ast *position; /* by node */
};

static Z3_ast before(const struct smt *k, uint32_t a, uint32_t b)
{
	return Z3_mk_lt(k->c, k->position[a], k->position[b]);
}

static void must(const struct smt *k, Z3_ast a)
{
	Z3_solver_assert(k->c, k->s, a);
}

static void either(const struct smt *k, Z3_ast a, Z3_ast b)
{
	must(k, Z3_mk_or(k->c, 2, (Z3_ast[]){a, b}));
}

static void steps_before(const struct smt *k, uint32_t a, uint32_t b)
{
	must(k, before(k, ideal_node(k->d, a), ideal_node(k->d, b)));
}

static void encode_step(const struct smt *k, uint32_t node)
{
	const struct whole *w = k->d->w;
	const struct step *s = ideal_step(k->d, node);
	uint32_t step = k->d->step[node], fork = w->thread[s->thread].fork;

	if (s->at > 0)
		must(k, before(k, node - 1, node));
	else if (fork != NO_STEP)
		steps_before(k, fork, step);
	if (s->kind == STEP_JOIN && whole_last_step(w, s->object) != NO_STEP)
		steps_before(k, whole_last_step(w, s->object), step);
	if (s->kind == STEP_TAKE && s->mate != NO_STEP)
		steps_before(k, s->mate, step);
	for (uint32_t a = s->kind == STEP_DEPART ? w->round[s->object] : NO_STEP; a != NO_STEP; a = w->step[a].mate)
		steps_before(k, a, step);
	if (s->signal != NO_STEP) {
		must(k, before(k, node - 1, ideal_node(k->d, s->signal)));
		steps_before(k, s->signal, step);
	}
}

/* Of two acquires of a lock, one side exclusive: the first one's release comes before the second one. */
static void encode_locks(const struct smt *k, uint32_t a, uint32_t b)
{
	const struct step *x = ideal_step(k->d, a), *y = ideal_step(k->d, b);
	Z3_ast no = Z3_mk_false(k->c);
	bool ends_x = x->mate != NO_STEP && ideal_has(k->d, x->mate), ends_y = y->mate != NO_STEP && ideal_has(k->d, y->mate);

	if (x->kind != STEP_ACQUIRE || y->kind != STEP_ACQUIRE || x->object != y->object || x->thread == y->thread ||
		(x->shared && y->shared))
		return;
	either(k, ends_x ? before(k, ideal_node(k->d, x->mate), b) : no,
		ends_y ? before(k, ideal_node(k->d, y->mate), a) : no);
}

static void encode_read(const struct smt *k, uint32_t node, uint32_t loc, uint32_t source)
{
	uint32_t w = source == NO_STEP ? NO_STEP : ideal_node(k->d, source);

	if (w != NO_STEP)
		must(k, before(k, w, node));
	for (uint32_t v = 0; v < k->d->nodes; v++) {
		if (v == node || v == w || !step_touches(ideal_step(k->d, v), loc) || !step_writes(ideal_step(k->d, v)))
			continue;
		either(k, w == NO_STEP ? Z3_mk_false(k->c) : before(k, v, w), before(k, node, v));
	}
}

static void encode(const struct smt *k)
{
	const struct ideal *d = k->d;

	must(k, Z3_mk_distinct(k->c, d->nodes, k->position));
	for (uint32_t v = 0; v < d->nodes; v++) {
		const struct step *s = ideal_step(d, v);

		encode_step(k, v);
		for (uint32_t u = 0; u < v; u++)
			encode_locks(k, u, v);
		for (uint32_t i = 0; i < s->locs && step_reads(s) && ideal_keeps(d, d->step[v]); i++)
			encode_read(k, v, s->object + i, d->w->source[s->source + i]);
	}
	steps_before(k, d->at->first, d->at->culprit);
	steps_before(k, d->at->culprit, d->at->second);
}

static bool by_z3(const struct ideal *d, struct arena *a)
{
	Z3_config config = Z3_mk_config();
	struct smt k = {.c = Z3_mk_context(config), .d = d, .position = arena_alloc(a, (d->nodes + 1) * sizeof(Z3_ast))};
	bool found;

	k.s = Z3_mk_simple_solver(k.c);
	Z3_solver_inc_ref(k.c, k.s);
	for (uint32_t v = 0; v < d->nodes; v++)
		k.position[v] = Z3_mk_const(k.c, Z3_mk_int_symbol(k.c, (int)v), Z3_mk_int_sort(k.c));
	encode(&k);
	found = Z3_solver_check(k.c, k.s) == Z3_L_TRUE;
	Z3_solver_dec_ref(k.c, k.s);
	Z3_del_context(k.c);
	Z3_del_config(config);
	return found;
}

static bool by_us(const struct ideal *d, struct arena *a)
{
	uint32_t *steps = arena_alloc(a, (d->nodes + 1) * sizeof *steps);
	struct closure c;

	return closure_make(&c, a, d) && closure_saturate(&c) && linear_make(&c, steps);
}

static uint64_t compared, possible;

static bool compare(const struct predict_trace *t, const struct instance *i, bool open, enum tier tier)
{
	struct ideal_setup setup = {&t->whole, i, tier, open, 0};
	struct ideal d;
	struct arena a;
	bool ours = false, theirs = false;

	spare_arena(&a);
	if (ideal_make(&d, &a, &setup)) {
		ours = by_us(&d, &a);
		theirs = by_z3(&d, &a);
		compared++;
		possible += theirs;
	}
	arena_free(&a);
	if (ours != theirs)
		printf("e1 at %u, e2 at %u, e3 at %u, tier %c: %s say%s that there is an order\n", t->whole.step[i->first].event + 1,
			t->whole.step[i->culprit].event + 1, t->whole.step[i->second].event + 1, "ABC"[tier], ours ? "we" : "z3",
			ours ? "" : "s");
	return ours == theirs;
}

static bool trial(uint64_t seed)
{
	struct predict_trace t;
	struct rng rng = {seed};
	struct instance i;
	struct arena a;
	bool agree = true;

	spare_arena(&a);
	predict_trace_make(&t, &a, seed);
	for (int n = 0; n < TRIPLES && agree; n++)
		if (predict_trace_triple(&t, &rng, &i))
			agree = compare(&t, &i, n % 2, n % 3 ? TIER_A : TIER_C);
	if (!agree) {
		printf("# predict_z3 --seed %llu --count 1\n", (unsigned long long)seed);
		predict_trace_print(&t);
	}
	arena_free(&a);
	return agree;
}

int main(int argc, char **argv)
{
	uint64_t count = 300, seed = 1;
	struct opt table[] = {
		{"count", 0, OPT_COUNT, &count, "N", "how many traces"},
		{"seed", 0, OPT_COUNT, &seed, "S", "of the first one"},
		{0},
	};

	if (opts_parse(table, "predict_z3", argc, argv))
		die(STATUS_USAGE, "usage: predict_z3 [--count N] [--seed S]");
	for (uint64_t i = 0; i < count; i++)
		if (!trial(seed + i)) {
			puts("0 passed, 1 failed");
			return 1;
		}
	printf("%llu ideals, %llu of them with an order: z3 and tiers A and C agree on all\n", (unsigned long long)compared,
		(unsigned long long)possible);
	printf("%llu passed, 0 failed\n", (unsigned long long)compared);
	return compared == 0;
}
