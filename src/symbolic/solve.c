/* SPDX-License-Identifier: MIT */
/*
 * fission-solve: other inputs, with which a run decides otherwise. A program of its own, so that `fission` needs no
 * solver to start, and a solver that runs out of time, memory or luck takes nobody with it.
 *
 *   fission-solve WALK MILLISECONDS QUESTION...
 *
 * A question is the number of a record that is a decision, and perhaps "=VALUE", what its expression is to be instead.
 * The answer is a line: the question and `sat`, `unsat` or `unknown`; behind `sat`, for each input that must change,
 * its expression and new value.
 *
 * Near the old values: only a change that is needed is wanted, and a small one. So a ladder is climbed: the decision's
 * own inputs alone, then all that belong to them; a short distance before a long one; bytes that can be typed before
 * others. On the first rung that holds, the distance is narrowed down. What the run has made concrete, or used as an
 * address, stays what it was but on the last rung.
 *
 * The time is one of the solver's own steps, about as many as it does in a tenth of it, for each look; a question that
 * has used that up three times is given up. So the answer is the same on every machine, however busy it is. A clock
 * ends what takes ten times as long.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <z3.h>

#include "base/arena.h"
#include "base/fail.h"
#include "symbolic/slice.h"
#include "symbolic/walk_read.h"

enum {
	NARROWINGS = 12,
	NO_DISTANCE = 63,
	STEPS = 250,    /* of the solver, for a millisecond that the question has */
	PATIENCE = 10,  /* times what it has, by the clock */
	GIVES_UP = 3,
};

struct solving {
	struct arena arena;
	struct walk walk;
	struct slices slices;
	Z3_context z;
	Z3_solver solver;
	Z3_ast *ast;     /* by expression; NULL: not needed so far */
	bool *needed;
	double each, deadline; /* seconds for a question; when the one at hand ends */
	unsigned tired;        /* looks at it that used up their steps */
};

/* A rung: who may change, how far (a power of two), into what. */
struct rung {
	bool all;      /* not only the decision's own */
	uint8_t distance;
	bool typed;    /* bytes that can be typed; numbers keep their sign */
	bool anything; /* what was concrete may change */
};

static const struct rung ladder[] = {
	{false, 4, true, false}, {false, 10, true, false}, {false, 32, true, false}, {false, NO_DISTANCE, true, false},
	{true, 10, true, false}, {true, NO_DISTANCE, true, false}, {false, NO_DISTANCE, false, false},
	{true, NO_DISTANCE, false, false}, {true, NO_DISTANCE, true, true}, {true, NO_DISTANCE, false, true},
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Expressions for z3. */

static Z3_ast number(struct solving *s, uint64_t value, unsigned width)
{
	return Z3_mk_unsigned_int64(s->z, walk_bits(value, width), Z3_mk_bv_sort(s->z, width));
}

static Z3_ast from_bool(struct solving *s, Z3_ast condition)
{
	return Z3_mk_ite(s->z, condition, number(s, 1, 1), number(s, 0, 1));
}

static Z3_ast input_of(struct solving *s, uint32_t input)
{
	return Z3_mk_const(s->z, Z3_mk_int_symbol(s->z, (int)input), Z3_mk_bv_sort(s->z, s->walk.input[input].width));
}

typedef Z3_ast (*binary)(Z3_context z, Z3_ast a, Z3_ast b);

static const binary operation[WALK_OPS] = {
	[WALK_ADD] = Z3_mk_bvadd, [WALK_SUB] = Z3_mk_bvsub, [WALK_MUL] = Z3_mk_bvmul, [WALK_UDIV] = Z3_mk_bvudiv,
	[WALK_SDIV] = Z3_mk_bvsdiv, [WALK_UREM] = Z3_mk_bvurem, [WALK_SREM] = Z3_mk_bvsrem, [WALK_AND] = Z3_mk_bvand,
	[WALK_OR] = Z3_mk_bvor, [WALK_XOR] = Z3_mk_bvxor, [WALK_SHL] = Z3_mk_bvshl, [WALK_LSHR] = Z3_mk_bvlshr,
	[WALK_ASHR] = Z3_mk_bvashr, [WALK_CONCAT] = Z3_mk_concat,
};

static const binary comparison[WALK_OPS] = {
	[WALK_EQ] = Z3_mk_eq, [WALK_UGT] = Z3_mk_bvugt, [WALK_UGE] = Z3_mk_bvuge, [WALK_ULT] = Z3_mk_bvult,
	[WALK_ULE] = Z3_mk_bvule, [WALK_SGT] = Z3_mk_bvsgt, [WALK_SGE] = Z3_mk_bvsge, [WALK_SLT] = Z3_mk_bvslt,
	[WALK_SLE] = Z3_mk_bvsle,
};

/* With a divisor of 0 a program ends, and z3 goes on. */
static void keep_divisor(struct solving *s, const struct walk_node *n)
{
	if (n->op >= WALK_UDIV && n->op <= WALK_SREM)
		Z3_solver_assert(s->z, s->solver,
			Z3_mk_not(s->z, Z3_mk_eq(s->z, s->ast[n->b], number(s, 0, s->walk.node[n->b].width))));
}

static Z3_ast translate_node(struct solving *s, const struct walk_node *n)
{
	Z3_ast a = s->ast[n->a];
	unsigned width = s->walk.node[n->a].width;

	switch (n->op) {
	case WALK_ZEXT: return Z3_mk_zero_ext(s->z, n->width - width, a);
	case WALK_SEXT: return Z3_mk_sign_ext(s->z, n->width - width, a);
	case WALK_TRUNC: return Z3_mk_extract(s->z, n->width - 1u, 0, a);
	case WALK_BYTE: return Z3_mk_extract(s->z, 8 * n->b + 7, 8 * n->b, a);
	case WALK_CHOOSE: return Z3_mk_ite(s->z, Z3_mk_eq(s->z, a, number(s, 1, 1)), s->ast[n->b], s->ast[n->c]);
	case WALK_NE: return from_bool(s, Z3_mk_not(s->z, Z3_mk_eq(s->z, a, s->ast[n->b])));
	default:
		return comparison[n->op] ? from_bool(s, comparison[n->op](s->z, a, s->ast[n->b])) :
			operation[n->op](s->z, a, s->ast[n->b]);
	}
}

static void translate(struct solving *s, uint32_t expr)
{
	const struct walk_node *n = &s->walk.node[expr];

	if (n->kind == WALK_NODE)
		keep_divisor(s, n);
	if (!s->ast[expr])
		s->ast[expr] = n->kind == WALK_CONST ? number(s, n->value, n->width) :
			n->kind == WALK_INPUT ? input_of(s, n->a) : translate_node(s, n);
}

static void need_parts(struct solving *s, const struct walk_node *n)
{
	if (n->kind != WALK_NODE)
		return;
	s->needed[n->a] = true;
	s->needed[n->op == WALK_BYTE ? 0 : n->b] = true;
	s->needed[n->c] = true;
}

/* All expressions of the question; without recursion, since parts come before what has them. */
static void translate_all(struct solving *s, const struct slice *of, uint32_t decision)
{
	const struct walk *w = &s->walk;

	memset(s->needed, 0, w->nodes * sizeof *s->needed);
	s->needed[decision] = true;
	for (size_t i = 0; i < of->conditions.count; i++)
		s->needed[w->condition[of->conditions.at[i]].expr] = true;
	for (size_t i = w->definitions; i-- > 0;)
		if (s->needed[w->defined[i]])
			need_parts(s, &w->node[w->defined[i]]);
	for (size_t i = 0; i < w->definitions; i++)
		if (s->needed[w->defined[i]])
			translate(s, w->defined[i]);
}

/* Conditions. */

static void assert_is(struct solving *s, uint32_t expr, uint64_t value, bool is)
{
	Z3_ast same = Z3_mk_eq(s->z, s->ast[expr], number(s, value, s->walk.node[expr].width));

	Z3_solver_assert(s->z, s->solver, is ? same : Z3_mk_not(s->z, same));
}

static void assert_conditions(struct solving *s, const struct slice *of, bool decisions)
{
	for (size_t i = 0; i < of->conditions.count; i++) {
		const struct walk_condition *c = &s->walk.condition[of->conditions.at[i]];

		if (walk_decides(c) == decisions)
			assert_is(s, c->expr, c->value, true);
	}
}

static void assert_between(struct solving *s, uint32_t input, int64_t least, int64_t most)
{
	unsigned width = s->walk.input[input].width;
	Z3_ast x = input_of(s, input);

	Z3_solver_assert(s->z, s->solver, Z3_mk_bvsge(s->z, x, number(s, (uint64_t)least, width)));
	Z3_solver_assert(s->z, s->solver, Z3_mk_bvsle(s->z, x, number(s, (uint64_t)most, width)));
}

/* No further from the old value than that; with the same sign. */
static void assert_near(struct solving *s, uint32_t input, uint64_t distance, bool typed)
{
	const struct walk_input *in = &s->walk.input[input];
	int64_t most, least, old = walk_signed(in->value, in->width);

	if (in->width == 1)
		return;
	most = (int64_t)(UINT64_MAX >> (65 - in->width));
	least = -most - 1;
	if (typed && old >= 0)
		least = 0;
	if (distance < (uint64_t)1 << (in->width - 1)) {
		least = old >= least + (int64_t)distance ? old - (int64_t)distance : least;
		most = old <= most - (int64_t)distance ? old + (int64_t)distance : most;
	}
	assert_between(s, input, least, most);
}

static bool is_byte(const struct walk_input *in)
{
	return in->width == 8 && !in->length && in->source != WALK_NAMED;
}

/* A byte: what can be typed, or nothing at all, which is the end of a text. */
static void assert_typed(struct solving *s, uint32_t input)
{
	Z3_ast x = input_of(s, input), parts[2], old = number(s, s->walk.input[input].value, 8);
	Z3_ast range[] = {Z3_mk_bvuge(s->z, x, number(s, ' ', 8)), Z3_mk_bvult(s->z, x, number(s, 127, 8))};

	parts[0] = Z3_mk_and(s->z, 2, range);
	parts[1] = Z3_mk_eq(s->z, x, old);
	if (s->walk.input[input].source == WALK_ARGV || s->walk.input[input].source == WALK_ENV) {
		Z3_ast three[] = {parts[0], parts[1], Z3_mk_eq(s->z, x, number(s, 0, 8))};

		Z3_solver_assert(s->z, s->solver, Z3_mk_or(s->z, 3, three));
	} else {
		Z3_solver_assert(s->z, s->solver, Z3_mk_or(s->z, 2, parts));
	}
}

static void assert_rung(struct solving *s, const struct slice *of, const struct rung *r, uint64_t distance)
{
	for (size_t i = 0; i < of->inputs.count; i++) {
		uint32_t input = of->inputs.at[i];
		const struct walk_input *in = &s->walk.input[input];

		if (!r->all && i >= of->own)
			Z3_solver_assert(s->z, s->solver,
				Z3_mk_eq(s->z, input_of(s, input), number(s, in->value, in->width)));
		else if (!is_byte(in))
			assert_near(s, input, distance, r->typed);
		else if (r->typed)
			assert_typed(s, input);
	}
	if (!r->anything)
		assert_conditions(s, of, false);
}

/* The search for an answer. */

static Z3_lbool check_timed(struct solving *s)
{
	double left = s->deadline - now();
	Z3_params p;

	Z3_lbool result;

	if (left <= 0 || s->tired >= GIVES_UP)
		return Z3_L_UNDEF;
	p = Z3_mk_params(s->z);
	Z3_params_inc_ref(s->z, p);
	Z3_params_set_uint(s->z, p, Z3_mk_string_symbol(s->z, "rlimit"), (unsigned)(s->each * 1000 * STEPS) + 1);
	Z3_params_set_uint(s->z, p, Z3_mk_string_symbol(s->z, "timeout"), (unsigned)(left * 1000) + 1);
	Z3_solver_set_params(s->z, s->solver, p);
	Z3_params_dec_ref(s->z, p);
	result = Z3_solver_check(s->z, s->solver);
	s->tired += result == Z3_L_UNDEF;
	return result;
}

/* A question on its way to an answer: new values of the slice's inputs. */
struct attempt {
	struct slice of;
	uint64_t *value;
};

/* Takes the model's values for the slice's inputs. */
static void take_model(struct solving *s, struct attempt *t)
{
	Z3_model m = Z3_solver_get_model(s->z, s->solver);

	Z3_model_inc_ref(s->z, m);
	for (size_t i = 0; i < t->of.inputs.count; i++) {
		Z3_ast v;
		uint64_t n;

		t->value[i] = s->walk.input[t->of.inputs.at[i]].value;
		if (Z3_model_eval(s->z, m, input_of(s, t->of.inputs.at[i]), false, &v) &&
			Z3_get_ast_kind(s->z, v) == Z3_NUMERAL_AST && Z3_get_numeral_uint64(s->z, v, &n))
			t->value[i] = n;
	}
	Z3_model_dec_ref(s->z, m);
}

static Z3_lbool try_rung(struct solving *s, struct attempt *t, const struct rung *r, uint64_t distance)
{
	Z3_lbool result;

	Z3_solver_push(s->z, s->solver);
	assert_rung(s, &t->of, r, distance);
	result = check_timed(s);
	if (result == Z3_L_TRUE)
		take_model(s, t);
	Z3_solver_pop(s->z, s->solver, 1);
	return result;
}

/* How far the answer in hand is from the old values, by the number that has moved most. */
static uint64_t distance_of(const struct solving *s, const struct attempt *t)
{
	uint64_t most = 0;

	for (size_t i = 0; i < t->of.inputs.count; i++) {
		const struct walk_input *in = &s->walk.input[t->of.inputs.at[i]];
		int64_t old = walk_signed(in->value, in->width), new = walk_signed(t->value[i], in->width);
		uint64_t d = new > old ? (uint64_t)new - (uint64_t)old : (uint64_t)old - (uint64_t)new;

		if (!is_byte(in) && d > most)
			most = d;
	}
	return most;
}

/* Halves the distance as long as that has an answer. */
static void narrow(struct solving *s, struct attempt *t, const struct rung *r)
{
	uint64_t high = distance_of(s, t), low = 0;

	for (int i = 0; i < NARROWINGS && low + 1 < high; i++) {
		uint64_t middle = low + (high - low) / 2;

		if (try_rung(s, t, r, middle) == Z3_L_TRUE)
			high = distance_of(s, t);
		else
			low = middle;
	}
}

static Z3_lbool climb(struct solving *s, struct attempt *t)
{
	Z3_lbool worst = Z3_L_FALSE;

	for (size_t i = 0; i < sizeof ladder / sizeof *ladder; i++) {
		const struct rung *r = &ladder[i];
		uint64_t distance = r->distance == NO_DISTANCE ? UINT64_MAX : (uint64_t)1 << r->distance;
		Z3_lbool result = try_rung(s, t, r, distance);

		if (result == Z3_L_TRUE) {
			narrow(s, t, r);
			return Z3_L_TRUE;
		}
		if (result == Z3_L_UNDEF)
			worst = Z3_L_UNDEF;
	}
	return worst;
}

static void print_changes(const struct solving *s, const struct attempt *t)
{
	for (size_t i = 0; i < t->of.inputs.count; i++) {
		const struct walk_input *in = &s->walk.input[t->of.inputs.at[i]];

		if (t->value[i] != in->value)
			printf(" %" PRIu32 " %" PRIu64, in->expr, t->value[i]);
	}
}

/* A question. */
struct question {
	const char *text;
	size_t condition;
	uint64_t value;
	bool is; /* its value; otherwise another than it was */
};

static void answer(struct solving *s, const struct question *q)
{
	static const char *const words[] = {[Z3_L_FALSE + 1] = "unsat", [Z3_L_UNDEF + 1] = "unknown", [Z3_L_TRUE + 1] = "sat"};
	struct attempt t = {.of = slice_make(&s->slices, q->condition)};
	const struct walk_condition *c = &s->walk.condition[q->condition];
	Z3_lbool result;

	t.value = arena_alloc(&s->arena, (t.of.inputs.count + 1) * sizeof *t.value);
	Z3_solver_push(s->z, s->solver);
	translate_all(s, &t.of, c->expr);
	assert_conditions(s, &t.of, true);
	assert_is(s, c->expr, q->value, q->is);
	result = climb(s, &t);
	Z3_solver_pop(s->z, s->solver, 1);
	printf("%s %s", q->text, words[result + 1]);
	if (result == Z3_L_TRUE)
		print_changes(s, &t);
	putchar('\n');
	fflush(stdout);
}

static bool parse(const struct solving *s, const char *text, struct question *q)
{
	char *end;
	unsigned long record = strtoul(text, &end, 10);

	*q = (struct question){.text = text};
	while (q->condition < s->walk.conditions && s->walk.condition[q->condition].record != record)
		q->condition++;
	if (end == text || (*end && *end != '=') || q->condition == s->walk.conditions)
		return false;
	q->is = *end == '=';
	q->value = q->is ? strtoull(end + 1, NULL, 10) : s->walk.condition[q->condition].value;
	return walk_decides(&s->walk.condition[q->condition]);
}

/* What z3 cannot do is no answer; the next question may have one. */
static void ignore(Z3_context z, Z3_error_code code)
{
	(void)z, (void)code;
}

static void start(struct solving *s)
{
	Z3_config config = Z3_mk_config();

	s->z = Z3_mk_context(config);
	Z3_del_config(config);
	Z3_set_error_handler(s->z, ignore);
	s->solver = Z3_mk_solver_for_logic(s->z, Z3_mk_string_symbol(s->z, "QF_BV"));
	Z3_solver_inc_ref(s->z, s->solver);
	s->ast = arena_alloc(&s->arena, s->walk.nodes * sizeof *s->ast);
	s->needed = arena_alloc(&s->arena, s->walk.nodes * sizeof *s->needed);
	slices_init(&s->slices, &s->walk, &s->arena);
}

int main(int argc, char **argv)
{
	static struct solving s;
	struct fault fault = {0};
	int fd;

	if (argc < 4)
		die(STATUS_USAGE, "usage: fission-solve WALK MILLISECONDS RECORD[=VALUE]...");
	arena_init(&s.arena);
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(STATUS_USAGE, "%s: cannot be read", argv[1]);
	if (!walk_read(&s.walk, &s.arena, fd, &fault))
		die(fault.status, "%s: %s", argv[1], fault.text);
	s.each = strtod(argv[2], NULL) / 1000;
	start(&s);
	for (int i = 3; i < argc; i++) {
		struct question q;

		s.deadline = now() + PATIENCE * s.each;
		s.tired = 0;
		if (parse(&s, argv[i], &q))
			answer(&s, &q);
		else
			printf("%s unknown\n", argv[i]);
	}
	return STATUS_CLEAN;
}
