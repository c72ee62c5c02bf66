/* SPDX-License-Identifier: MIT */
/* Guards, and sets of periods: each against a model that is too simple to be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/rng.h"
#include "state/guards.h"
#include "state/period_sets.h"

enum { LOCKS = 6, LINES = 5, TRACKS = 8 };

/* A guard as masks of locks. */
struct masks {
	unsigned all, exclusive;
};

static bool excludes(struct masks a, struct masks b)
{
	return (a.all & b.exclusive) || (a.exclusive & b.all);
}

static bool is_within(struct masks a, struct masks b)
{
	return !(a.all & ~b.all) && !(a.exclusive & ~b.exclusive);
}

static void test_guards_against_model(void **state)
{
	struct guard_id_and_masks {
		guard_id id;
		struct masks masks;
	} at[TRACKS] = {0};
	struct rng r = {1};
	struct arena a;
	struct locksets sets;
	struct guards g;

	(void)state;
	arena_init(&a);
	locksets_init(&sets, &a);
	guards_init(&g, &a, &sets);
	for (int step = 0; step < 20000; step++) {
		struct guard_id_and_masks *x = &at[rng_below(&r, TRACKS)], *y = &at[rng_below(&r, TRACKS)];
		unsigned m = 1 + rng_below(&r, LOCKS), bit = 1u << m, shared = rng_below(&r, 2);

		if (x->masks.all & bit) {
			x->id = guard_remove(&g, x->id, m);
			x->masks = (struct masks){x->masks.all & ~bit, x->masks.exclusive & ~bit};
		} else {
			x->id = guard_add(&g, x->id, m, shared);
			x->masks = (struct masks){x->masks.all | bit, x->masks.exclusive | (shared ? 0 : bit)};
		}
		assert_int_equal(guard_excludes(&g, x->id, y->id), excludes(x->masks, y->masks));
		assert_int_equal(guard_within(&g, x->id, y->id), is_within(x->masks, y->masks));
		assert_int_equal(x->id == y->id,
			x->masks.all == y->masks.all && x->masks.exclusive == y->masks.exclusive);
		assert_int_equal(guard_within(&g, guard_meet(&g, x->id, y->id), x->id), true);
		assert_int_equal(guard_meet(&g, x->id, y->id), guard_meet(&g, y->id, x->id));
	}
	arena_free(&a);
}

/* A track as a list of all its periods. */
struct list {
	period_id at[4096];
	size_t count;
};

static bool concurrent(struct periods *p, const struct list *a, const struct list *b)
{
	for (size_t i = 0; i < a->count; i++)
		for (size_t j = 0; j < b->count; j++)
			if (period_concurrent(p, a->at[i], b->at[j]))
				return true;
	return false;
}

/* Lines fork, join and meet at random; tracks get the period of a random line. */
static void periods_step(struct periods *p, struct arena *a, struct rng *r)
{
	uint32_t x = 1 + rng_below(r, LINES), y = 1 + rng_below(r, LINES);
	struct vclock round = {0};

	(void)a;
	if (x == y)
		return;
	switch (rng_below(r, 12)) {
	case 0: periods_fork(p, x, y); break;
	case 1: periods_join(p, x, y); break;
	case 2:
		periods_arrive(p, x, &round);
		periods_arrive(p, y, &round);
		periods_depart(p, x, &round);
		periods_depart(p, y, &round);
		break;
	default: break;
	}
}

static void test_period_tracks_against_model(void **state)
{
	static struct list list[TRACKS];
	struct period_track track[TRACKS] = {0};
	struct rng r = {2};
	struct arena a;
	struct periods p;
	struct period_sets s;

	(void)state;
	arena_init(&a);
	periods_init(&p, &a);
	period_sets_init(&s, &a, &p);
	for (int step = 0; step < 2000; step++) {
		size_t i = rng_below(&r, TRACKS), j = rng_below(&r, TRACKS);
		period_id now;

		periods_step(&p, &a, &r);
		now = period_now(&p, 1 + rng_below(&r, LINES));
		period_track_add(&s, &track[i], now);
		list[i].at[list[i].count++] = now;
		assert_true(period_track_has(&s, &track[i], now));
		assert_int_equal(period_sets_concurrent(&s, period_track_set(&s, &track[i]),
					 period_track_set(&s, &track[j])),
			concurrent(&p, &list[i], &list[j]));
	}
	arena_free(&a);
}

static void test_period_sets_are_interned(void **state)
{
	struct arena a;
	struct period_sets s;
	struct period_track t = {0};

	(void)state;
	arena_init(&a);
	period_sets_init(&s, &a, NULL);
	period_track_add(&s, &t, 3);
	assert_true(period_track_is(&s, &t, 3));
	period_track_add(&s, &t, 1);
	assert_false(period_track_is(&s, &t, 3));
	assert_int_equal(period_track_set(&s, &t), period_set_add(&s, period_set_add(&s, 0, 1), 3));
	assert_false(period_sets_concurrent(&s, period_set_add(&s, 0, 1), period_set_add(&s, 0, 1)));
	assert_true(period_sets_concurrent(&s, period_set_add(&s, 0, 1), period_track_set(&s, &t)));
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guards_against_model),
		cmocka_unit_test(test_period_tracks_against_model),
		cmocka_unit_test(test_period_sets_are_interned),
	};

	return cmocka_run_group_tests_name("guards", tests, NULL, NULL);
}
