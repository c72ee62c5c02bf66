/* SPDX-License-Identifier: MIT */
/* What speculation stands on, without bitcode: post-dominators, before their definition, and sets of held locks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/rng.h"
#include "symbolic/holds.h"
#include "symbolic/postdom.h"

enum { NODES = 9, GRAPHS = 20000 };

struct graph {
	struct postdom_node node[NODES];
	uint32_t to[NODES][2], count;
};

static void make_graph(struct graph *g, struct rng *r)
{
	g->count = 1 + rng_below(r, NODES);
	for (uint32_t n = 0; n < g->count; n++) {
		uint32_t tos = rng_below(r, 3);

		for (uint32_t i = 0; i < tos; i++)
			g->to[n][i] = rng_below(r, g->count);
		g->node[n] = (struct postdom_node){g->to[n], tos, tos == 0 && rng_below(r, 3) != 0, 0};
	}
}

/* Whether there is a way to an end that does not come past `without`. */
static bool ends(const struct graph *g, uint32_t n, uint32_t without, bool *seen)
{
	if (n == without || seen[n])
		return false;
	seen[n] = true;
	if (g->node[n].ends)
		return true;
	for (uint32_t i = 0; i < g->node[n].tos; i++)
		if (ends(g, g->node[n].to[i], without, seen))
			return true;
	return false;
}

static bool can_end(const struct graph *g, uint32_t n, uint32_t without)
{
	bool seen[NODES] = {false};

	return ends(g, n, without, seen);
}

/* Every way from n to an end comes past p, which is another. */
static bool comes_past(const struct graph *g, uint32_t n, uint32_t p)
{
	return n != p && !can_end(g, n, p);
}

static uint32_t defined(const struct graph *g, uint32_t n)
{
	if (!can_end(g, n, UINT32_MAX))
		return POSTDOM_NONE;
	for (uint32_t p = 0; p < g->count; p++) {
		bool nearest = comes_past(g, n, p) && can_end(g, p, UINT32_MAX);

		for (uint32_t other = 0; nearest && other < g->count; other++)
			nearest = other == p || !comes_past(g, n, other) || !can_end(g, other, UINT32_MAX) || comes_past(g, p, other);
		if (nearest)
			return p;
	}
	return POSTDOM_EXIT;
}

static void test_postdom(void **state)
{
	struct rng r = {7};
	struct arena a;

	(void)state;
	for (int i = 0; i < GRAPHS; i++) {
		struct graph g;

		arena_init(&a);
		make_graph(&g, &r);
		postdom(g.node, g.count, &a);
		for (uint32_t n = 0; n < g.count; n++)
			assert_int_equal(g.node[n].join, defined(&g, n));
		arena_free(&a);
	}
}

static void test_holds(void **state)
{
	struct held_lock m = {.address = 8, .acquisition = 1}, again = {.address = 8, .acquisition = 2}, w = {.address = 16,
		.acquisition = 3};
	struct arena a;
	struct holds h;
	uint32_t one, two;

	(void)state;
	arena_init(&a);
	holds_init(&h, &a);
	one = holds_take(&h, 0, &m);
	assert_int_equal(one, holds_take(&h, 0, &m));
	two = holds_take(&h, one, &again); /* recursive: still the first acquisition */
	assert_int_equal(holds_find(&h, two, 8)->acquisition, 1);
	assert_int_equal(holds_give(&h, two, &m), one);
	assert_int_equal(holds_drop(&h, two, 8), 0);
	assert_int_equal(holds_give(&h, one, &w), one);
	assert_int_not_equal(holds_take(&h, 0, &again), one);
	assert_true(holds_alike(&h, one, holds_take(&h, 0, &again)));
	assert_false(holds_alike(&h, one, holds_take(&h, one, &w)));
	arena_free(&a);
}

static void test_unknown_locks(void **state)
{
	struct held_lock m = {.address = 8, .class = 5}, some = {.acquisition = 9, .class = 5};
	struct held_lock other = {.acquisition = 9, .class = 6}, any = {.acquisition = 9}, reader = {.address = 8, .shared = 1};
	struct arena a;
	struct holds h;
	uint32_t unknown;

	(void)state;
	arena_init(&a);
	holds_init(&h, &a);
	unknown = holds_take(&h, 0, &some);
	assert_true(holds_excludes(&h, unknown, &m));
	assert_false(holds_excludes(&h, holds_take(&h, 0, &other), &m));
	assert_true(holds_excludes(&h, holds_take(&h, 0, &any), &m));
	assert_int_equal(holds_give(&h, unknown, &some), 0);
	assert_int_equal(holds_give(&h, unknown, &other), unknown);
	assert_false(holds_excludes(&h, holds_take(&h, 0, &reader), &reader));
	assert_true(holds_excludes(&h, holds_take(&h, 0, &reader), &m));
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_postdom),
		cmocka_unit_test(test_holds),
		cmocka_unit_test(test_unknown_locks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
