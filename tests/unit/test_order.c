/* SPDX-License-Identifier: MIT */
/* Lock sets, held locks, clocks, periods, diaries and extents, each against a naive model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/rng.h"
#include "state/clocks.h"
#include "state/diary.h"
#include "state/extents.h"
#include "state/held.h"
#include "state/lockset.h"
#include "state/periods.h"
#include "state/vclock.h"

/* ---- Lock sets: bits of a word are the model. ---- */

enum { LOCKS = 12, SETS = 400 };

static void assert_set(struct locksets *s, lockset_id id, uint32_t bits)
{
	struct lockset of = lockset_of(s, id);
	uint32_t seen = 0;

	for (uint32_t i = 0; i < of.count; i++) {
		assert_true(i == 0 || of.lock[i - 1] < of.lock[i]);
		seen |= 1u << of.lock[i];
	}
	assert_int_equal(seen, bits);
	assert_true((id == 0) == (bits == 0));
}

static void test_locksets_against_bits(void **state)
{
	struct { lockset_id id; uint32_t bits; } set[SETS] = {{0, 0}};
	struct locksets s;
	struct rng r = {1};
	struct arena a;

	(void)state;
	arena_init(&a);
	locksets_init(&s, &a);
	for (size_t n = 1; n < SETS; n++) {
		size_t i = rng_below(&r, n), k = rng_below(&r, n);
		sync_id m = 1 + (sync_id)rng_below(&r, LOCKS);

		switch (rng_below(&r, 4)) {
		case 0:
			set[n].id = lockset_remove(&s, set[i].id, m);
			set[n].bits = set[i].bits & ~(1u << m);
			break;
		case 1:
			set[n].id = lockset_meet(&s, set[i].id, set[k].id);
			set[n].bits = set[i].bits & set[k].bits;
			break;
		default:
			set[n].id = lockset_add(&s, set[i].id, m);
			set[n].bits = set[i].bits | 1u << m;
		}
		assert_set(&s, set[n].id, set[n].bits);
		assert_int_equal(lockset_has(&s, set[i].id, m), set[i].bits >> m & 1);
		assert_int_equal(lockset_within(&s, set[i].id, set[k].id), (set[i].bits & ~set[k].bits) == 0);
		assert_int_equal(lockset_disjoint(&s, set[i].id, set[k].id), (set[i].bits & set[k].bits) == 0);
		assert_int_equal(set[i].id == set[k].id, set[i].bits == set[k].bits);
	}
	arena_free(&a);
}

/* ---- Held locks. ---- */

static struct event lock_event(uint8_t kind, sync_id m, uint64_t seq)
{
	return (struct event){.kind = kind, .object = m, .line = 1, .seq = seq};
}

static void test_held_sides_and_order(void **state)
{
	struct helds h;
	struct arena a;
	const struct held *line;

	(void)state;
	arena_init(&a);
	helds_init(&h, &a);
	line = held_by(&h, 1);
	held_acquire(&h, &(struct event){.kind = EVENT_ACQUIRE, .object = 3, .line = 1, .seq = 7});
	held_acquire(&h, &(struct event){.kind = EVENT_ACQUIRE_SHARED, .object = 2, .line = 1, .seq = 8});
	held_acquire(&h, &(struct event){.kind = EVENT_ACQUIRE, .object = 5, .line = 1, .seq = 9});
	assert_set(&h.locksets, line->all, 1u << 3 | 1u << 2 | 1u << 5);
	assert_set(&h.locksets, line->exclusive, 1u << 3 | 1u << 5);
	assert_int_equal(line->at[1].lock, 2);
	assert_true(line->at[1].shared);
	held_release(&h, &(struct event){.kind = EVENT_RELEASE, .object = 3, .line = 1, .seq = 10}); /* not the last */
	assert_int_equal(line->count, 2);
	assert_int_equal(line->at[0].lock, 2);
	assert_int_equal(mark_seq(&held_find(line, 5)->acquire), 9);
	assert_null(held_find(line, 3));
	held_release(&h, &(struct event){.kind = EVENT_RELEASE_SHARED, .object = 2, .line = 1, .seq = 11});
	held_release(&h, &(struct event){.kind = EVENT_RELEASE, .object = 5, .line = 1, .seq = 12});
	held_release(&h, &(struct event){.kind = EVENT_RELEASE, .object = 5, .line = 1, .seq = 13}); /* nothing */
	assert_int_equal(line->count + line->all + line->exclusive, 0);
	arena_free(&a);
}

/* ---- Clocks and periods: reachability in a graph of everything that happened is the model. ---- */

enum { STEPS = 60, LINES = 5, SYNCS = 3, ROUNDS = 300 };

struct model {
	bool before[STEPS][STEPS];
	uint32_t line[STEPS];
	size_t steps;
	size_t last[LINES]; /* the line's last step + 1 */
};

/* A step of the line: after its last one and after all that `after` names. */
static size_t model_step(struct model *m, uint32_t line, const bool *after)
{
	size_t n = m->steps++;

	m->line[n] = line;
	for (size_t i = 0; i < n; i++)
		if ((after && after[i]) || i + 1 == m->last[line])
			for (size_t k = 0; k <= i; k++)
				m->before[n][k] |= k == i || m->before[i][k];
	m->last[line] = n + 1;
	return n;
}

/* Readers and writers at random: a writer is after all readers that released, a reader after the last writer. */
static void random_readers(struct rng *r)
{
	struct model m = {.steps = 0};
	struct epoch seen[STEPS];
	struct clocks c;
	struct arena a;
	bool released[2][STEPS] = {{false}}; /* by side: the steps of all releases */
	bool holds[LINES] = {false};
	uint32_t readers = 0, writer = 0;

	arena_init(&a);
	clocks_init(&c, &a, CLOCKS_C11);
	while (m.steps < STEPS) {
		uint32_t line = 1 + (uint32_t)rng_below(r, LINES - 1);
		bool shared = holds[line] ? writer != line : rng_below(r, 2), after[STEPS] = {false};
		struct event e = lock_event(shared ? EVENT_ACQUIRE_SHARED : EVENT_ACQUIRE, 3, 0);
		size_t n;

		e.line = line;
		if (!holds[line] && (writer || (!shared && readers)))
			continue;
		for (size_t i = 0; i < m.steps && !holds[line]; i++)
			after[i] = released[0][i] || (!shared && released[1][i]);
		if (!holds[line])
			clocks_acquire(&c, &e);
		n = model_step(&m, line, after);
		seen[n] = (struct epoch){line, clocks_time(&c, line)};
		for (size_t i = 0; i < n; i++)
			if (m.line[i] != line)
				assert_int_equal(m.before[n][i], epoch_within(seen[i], clocks_of(&c, line)));
		e.kind = shared ? EVENT_RELEASE_SHARED : EVENT_RELEASE;
		if (holds[line]) {
			clocks_release(&c, &e);
			released[shared][n] = true;
		}
		readers += shared ? holds[line] ? -1u : 1u : 0;
		writer = !shared && !holds[line] ? line : shared ? writer : 0;
		holds[line] = !holds[line];
	}
	arena_free(&a);
}

static void test_clocks_readers(void **state)
{
	struct rng r = {12};

	(void)state;
	for (int i = 0; i < ROUNDS; i++)
		random_readers(&r);
}

/* Locks at random: each step's epoch must tell whether it is before another. */
static void random_clocks(struct rng *r)
{
	struct model m = {.steps = 0};
	struct epoch seen[STEPS];
	struct clocks c;
	struct arena a;
	size_t released[SYNCS] = {0};
	uint32_t holder[SYNCS] = {0};

	arena_init(&a);
	clocks_init(&c, &a, CLOCKS_C11);
	while (m.steps < STEPS) {
		uint32_t line = 1 + (uint32_t)rng_below(r, LINES - 1), k = (uint32_t)rng_below(r, SYNCS);
		struct event e = lock_event(EVENT_RELEASE, k, 0);
		bool after[STEPS] = {false};
		size_t n;

		e.line = line;
		if (holder[k] && holder[k] != line)
			continue;
		if (released[k] && !holder[k])
			after[released[k] - 1] = true;
		e.kind = holder[k] ? EVENT_RELEASE : EVENT_ACQUIRE;
		if (!holder[k])
			clocks_acquire(&c, &e);
		n = model_step(&m, line, after);
		seen[n] = (struct epoch){line, clocks_time(&c, line)};
		for (size_t i = 0; i < n; i++)
			if (m.line[i] != line)
				assert_int_equal(m.before[n][i], epoch_within(seen[i], clocks_of(&c, line)));
		if (holder[k]) {
			clocks_release(&c, &e);
			released[k] = n + 1;
		}
		holder[k] = holder[k] ? 0 : line;
	}
	arena_free(&a);
}

static void test_clocks_know_what_is_before(void **state)
{
	struct rng r = {2};

	(void)state;
	for (int i = 0; i < ROUNDS; i++)
		random_clocks(&r);
}

/* All that run meet at a barrier: a step of each is after the last ones of all. */
static void everybody_meets(struct model *m, struct periods *p, struct arena *a, const bool *running)
{
	struct vclock round = {0};
	bool after[STEPS] = {false};

	for (uint32_t t = 1; t < LINES; t++)
		if (running[t] && m->last[t]) {
			periods_arrive(p, t, &round);
			after[m->last[t] - 1] = true;
		}
	for (uint32_t t = 1; t < LINES; t++)
		if (running[t] && m->last[t]) {
			periods_depart(p, t, &round);
			model_step(m, t, after);
		}
	arena_recycle(a, round.at, round.lines * sizeof *round.at);
}

/* A line is idle, running or joined; one step's period in `asks` is asked for, and compared with all that were. */
static void random_periods(struct rng *r, unsigned asks)
{
	struct model m = {.steps = 0};
	period_id period[STEPS] = {0};
	struct periods p;
	struct arena a;
	bool running[LINES] = {false, true}, was[LINES] = {false, true};
	period_id asked = 0;

	arena_init(&a);
	periods_init(&p, &a);
	while (m.steps + LINES < STEPS) {
		uint32_t t = 1 + (uint32_t)rng_below(r, LINES - 1), u = 1 + (uint32_t)rng_below(r, LINES - 1);
		bool after[STEPS] = {false};
		size_t n;

		if (!running[t] || t == u)
			continue;
		if (!was[u]) {
			n = model_step(&m, t, NULL);
			if (rng_below(r, asks) == 0)
				period[n] = period_now(&p, t);
			periods_fork(&p, t, u);
			after[n] = true;
			n = model_step(&m, u, after);
			running[u] = was[u] = true;
		} else if (running[u] && rng_below(r, 4) == 0) {
			after[m.last[u] - 1] = true;
			periods_join(&p, t, u);
			running[u] = false;
			n = model_step(&m, t, after);
		} else if (rng_below(r, 4) == 0) {
			everybody_meets(&m, &p, &a, running);
			n = m.last[t] - 1;
		} else {
			n = model_step(&m, t, NULL);
		}
		if (rng_below(r, asks))
			continue;
		period[n] = period_now(&p, m.line[n]);
		asked++;
		for (size_t i = 0; i < n; i++) {
			if (m.line[i] == m.line[n] || !period[i])
				continue;
			/* steps of one period are alike: a period is before if its last step is */
			assert_int_equal(period_before(&p, period[i], period[n]), m.before[n][i]);
			assert_int_equal(period_concurrent(&p, period[i], period[n]), !m.before[n][i]);
		}
	}
	assert_true(p.count <= 2 * asked + 2 * LINES);
	arena_free(&a);
}

static void test_periods_against_reachability(void **state)
{
	struct rng r = {3};

	(void)state;
	for (int i = 0; i < ROUNDS; i++)
		random_periods(&r, 1 + (unsigned)i % 4);
}

/* Nobody asks: rounds of a barrier cost no memory. */
static void test_periods_unasked_take_no_room(void **state)
{
	struct periods p;
	struct arena a;
	period_id first, last;

	(void)state;
	arena_init(&a);
	periods_init(&p, &a);
	first = period_now(&p, 1);
	for (int i = 0; i < 1000; i++) {
		struct vclock round = {0};

		for (uint32_t t = 1; t < LINES; t++)
			periods_arrive(&p, t, &round);
		for (uint32_t t = 1; t < LINES; t++)
			periods_depart(&p, t, &round);
		arena_recycle(&a, round.at, round.lines * sizeof *round.at);
	}
	assert_int_equal(p.count, LINES);
	last = period_now(&p, 2);
	assert_true(period_before(&p, first, last));
	assert_true(period_before(&p, first, period_now(&p, 1)));
	assert_true(period_concurrent(&p, last, period_now(&p, 3)));
	arena_free(&a);
}

static void test_barrier_separates_periods(void **state)
{
	struct periods p;
	struct vclock round = {0};
	struct arena a;
	period_id before[3], after[3];

	(void)state;
	arena_init(&a);
	periods_init(&p, &a);
	for (uint32_t t = 1; t < 3; t++) {
		before[t] = period_now(&p, t);
		periods_arrive(&p, t, &round);
	}
	for (uint32_t t = 1; t < 3; t++) {
		periods_depart(&p, t, &round);
		after[t] = period_now(&p, t);
	}
	assert_true(period_concurrent(&p, before[1], before[2]));
	assert_true(period_concurrent(&p, after[1], after[2]));
	assert_true(period_before(&p, before[1], after[2]));
	assert_true(period_before(&p, before[2], after[1]));
	assert_false(period_concurrent(&p, before[1], after[2]));
	arena_free(&a);
}

/* ---- Atomics: what passes from thread 1 to thread 2. ---- */

static struct event atomic(uint8_t kind, uint8_t order, uint32_t line)
{
	return (struct event){.kind = kind, .order = order, .object = 9, .line = line};
}

/* Whether line 2 knows the first time of line 1 after the operations. */
static bool passes(enum clocks_order order, const struct event *e, size_t n)
{
	struct clocks c;
	struct arena a;
	bool known;

	arena_init(&a);
	clocks_init(&c, &a, order);
	clocks_of(&c, 1);
	for (size_t i = 0; i < n; i++)
		clocks_atomic(&c, &e[i]);
	known = epoch_within((struct epoch){1, 1}, clocks_of(&c, 2));
	arena_free(&a);
	return known;
}

#define PASSES(order, ...) \
	passes(order, (const struct event[]){__VA_ARGS__}, sizeof((const struct event[]){__VA_ARGS__}) / sizeof(struct event))

static void test_atomics_pass_order(void **state)
{
	struct event release = atomic(EVENT_ATOMIC_STORE, ORDER_RELEASE, 1);
	struct event relaxed = atomic(EVENT_ATOMIC_STORE, ORDER_RELAXED, 1);
	struct event acquire = atomic(EVENT_ATOMIC_LOAD, ORDER_ACQUIRE, 2);
	struct event loose = atomic(EVENT_ATOMIC_LOAD, ORDER_RELAXED, 2);
	struct event fence1 = atomic(EVENT_ATOMIC_FENCE, ORDER_RELEASE, 1);
	struct event fence2 = atomic(EVENT_ATOMIC_FENCE, ORDER_ACQUIRE, 2);
	struct event overwrite = atomic(EVENT_ATOMIC_STORE, ORDER_RELEASE, 3);
	struct event modify = atomic(EVENT_ATOMIC_RMW, ORDER_RELAXED, 3);

	(void)state;
	assert_true(PASSES(CLOCKS_C11, release, acquire));
	assert_false(PASSES(CLOCKS_C11, relaxed, acquire));
	assert_false(PASSES(CLOCKS_C11, release, loose));
	assert_true(PASSES(CLOCKS_C11, release, loose, fence2));
	assert_true(PASSES(CLOCKS_C11, fence1, relaxed, acquire));
	assert_false(PASSES(CLOCKS_C11, relaxed, fence1, acquire));
	assert_false(PASSES(CLOCKS_C11, release, overwrite, acquire));
	assert_true(PASSES(CLOCKS_C11, release, modify, acquire));
	assert_false(PASSES(CLOCKS_C11, acquire, release));
	assert_true(PASSES(CLOCKS_CAUSES, relaxed, loose));
	assert_false(PASSES(CLOCKS_CAUSES, loose, relaxed));
}

/* ---- Diaries. ---- */

/* Notes of seq 1 to n in any order, some late, read as if they had come in order; the oldest go. */
static void test_diary_puts_the_late_in_their_places(void **state)
{
	struct arena a;
	struct diaries s = {0};
	struct diary *d;
	uint64_t random = 1;

	(void)state;
	arena_init(&a);
	diaries_init(&s, &a, NULL, NULL);
	for (uint64_t seq = 1; seq <= 3 * DIARY_MOST; seq += 3) {
		struct event e = {.kind = EVENT_READ, .line = 4, .seq = seq, .object = seq};

		diary_write(&s, &e);
		for (int i = 1; i <= 2; i++) {
			e.seq = e.object = seq < 60 ? seq + (uint64_t)i : seq - 60 + (uint64_t)i;
			if (seq < 60 || seq >= 120)
				diary_insert(&s, &e);
		}
		random = random * 6364136223846793005u + 1442695040888963407u;
		if (random >> 60)
			continue;
		d = diary_read(&s, 4);
		for (uint64_t k = diary_first(d) + 1; k < d->count; k++)
			assert_true(diary_note(d, k - 1)->seq < diary_note(d, k)->seq);
	}
	d = diary_read(&s, 4);
	assert_int_equal(d->count - diary_first(d), DIARY_MOST);
	assert_int_equal(diary_note(d, d->count - 21)->seq + 1, diary_note(d, d->count - 20)->seq);
	arena_free(&a);
}

/* Memory of four bytes each is a variable. */
static size_t fours(void *self, const struct note *n, uint64_t x[DIARY_VARIABLES])
{
	++*(unsigned *)self;
	for (size_t i = 0; i < n->size / 4; i++)
		x[i] = n->object / 4 + i;
	return n->size / 4;
}

/* What was noted and is told once more is one note; what another place or another access did at that time is another. */
static void test_diary_has_nothing_twice(void **state)
{
	struct arena a;
	struct diaries s = {0};
	struct event e = {.kind = EVENT_READ, .flags = EVENT_KNOWN, .line = 4, .object = 28, .size = 4, .site = 1};
	unsigned asked = 0;

	(void)state;
	arena_init(&a);
	diaries_init(&s, &a, &asked, fours);
	for (e.seq = 1; e.seq <= 3; e.seq++)
		diary_put_known(&s, diary_of(&s, 4), &e);
	assert_int_equal(asked, 0);
	e.seq = 2;
	e.flags = 0;
	e.object = 7;
	diary_insert(&s, &e);
	assert_int_equal(diary_read(&s, 4)->count, 3);
	e.kind = EVENT_WRITE;
	diary_insert(&s, &e);
	e.site = 2;
	diary_insert(&s, &e);
	e.object = 8;
	diary_insert(&s, &e);
	assert_int_equal(diary_read(&s, 4)->count, 6);
	assert_int_equal(diary_note(diary_of(&s, 4), 5)->seq, 3);
	arena_free(&a);
}

/* Accesses that are noted with their addresses have variables when somebody reads, and are asked for once. */
static void test_diary_asks_for_variables(void **state)
{
	struct arena a;
	struct diaries s = {0};
	struct event e = {.kind = EVENT_WRITE, .flags = EVENT_KNOWN, .line = 4, .size = 32, .site = 1};
	const struct diary *d;
	unsigned asked = 0;

	(void)state;
	arena_init(&a);
	diaries_init(&s, &a, &asked, fours);
	for (e.seq = 1; e.seq <= 100; e.seq++) {
		e.object = e.seq * 64;
		diary_put_known(&s, diary_of(&s, 4), &e);
		diary_write(&s, &(struct event){.kind = EVENT_ACQUIRE, .flags = EVENT_WAITED, .line = 4, .seq = e.seq, .object = 1});
	}
	d = diary_read(&s, 4);
	assert_int_equal(d, diary_read(&s, 4));
	assert_int_equal(asked, 100);
	assert_int_equal(d->count, 900);
	for (uint64_t i = 0, of[101] = {0}; i < d->count; i++) {
		const struct note *n = diary_note(d, i);

		assert_int_equal(n->seq, i / 9 + 1);
		if (n->kind == EVENT_WRITE)
			assert_int_equal(n->object, n->seq * 16 + of[n->seq]++);
		else
			assert_int_equal(n->object, 1);
	}
	arena_free(&a);
}

static void test_diary_forgets_the_oldest(void **state)
{
	struct diaries s;
	struct arena a;
	const struct diary *d;
	bool whole;

	(void)state;
	arena_init(&a);
	diaries_init(&s, &a, NULL, NULL);
	d = diary_of(&s, 4);
	for (uint64_t seq = 1; seq <= 3 * DIARY_MOST; seq++) {
		diary_write(&s, &(struct event){.kind = EVENT_READ, .line = 4, .seq = 2 * seq, .object = seq});
		assert_int_equal(diary_note(d, d->count - 1)->object, seq);
		assert_int_equal(diary_note(d, diary_first(d))->object, seq > DIARY_MOST ? seq - DIARY_MOST + 1 : 1);
	}
	assert_int_equal(d->capacity, DIARY_MOST);
	assert_int_equal(diary_note(d, diary_since(d, 4 * DIARY_MOST + 10, &whole))->seq, 4 * DIARY_MOST + 10);
	assert_true(whole);
	assert_int_equal(diary_note(d, diary_since(d, 6 * DIARY_MOST - 1, &whole))->seq, 6 * DIARY_MOST);
	assert_int_equal(diary_since(d, 6 * DIARY_MOST + 1, &whole), d->count);
	assert_int_equal(diary_since(d, 4, &whole), diary_first(d));
	assert_false(whole);
	arena_free(&a);
}

/* ---- Extents: a byte map is the model. ---- */

enum { BYTES = 400, BASE = (1 << 20) - BYTES / 2 }; /* across two regions */

static void test_extents_against_bytes(void **state)
{
	static int owner[BYTES]; /* the start of the allocation + 1, 0 for none */
	struct rng r = {8};
	struct extents x;
	struct arena a;

	(void)state;
	arena_init(&a);
	extents_init(&x, &a);
	for (int round = 0; round < 20000; round++) {
		int start = (int)rng_below(&r, BYTES), size = 1 + (int)rng_below(&r, 40);
		struct extent e;

		if (rng_below(&r, 3) == 0) {
			extents_remove(&x, (uint64_t)BASE + (uint64_t)start);
			for (int i = 0; i < BYTES && owner[start] == start + 1; i++)
				if (i != start && owner[i] == start + 1)
					owner[i] = 0;
			owner[start] = owner[start] == start + 1 ? 0 : owner[start];
		} else if (start + size <= BYTES) {
			for (int i = start; i < start + size; i++)
				for (int k = 0, gone = owner[i]; gone && k < BYTES; k++)
					if (owner[k] == gone)
						owner[k] = 0;
			for (int i = start; i < start + size; i++)
				owner[i] = start + 1;
			extents_add(&x, (uint64_t)BASE + (uint64_t)start, (uint64_t)size);
		}
		for (int i = 0; i < BYTES; i += 7) {
			assert_int_equal(extents_find(&x, (uint64_t)BASE + (uint64_t)i, &e), owner[i] != 0);
			if (owner[i])
				assert_int_equal(e.start, BASE + owner[i] - 1);
		}
	}
	extents_add(&x, UINT64_MAX - 10, UINT64_MAX);
	assert_true(extents_find(&x, UINT64_MAX, &(struct extent){0}));
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locksets_against_bits),
		cmocka_unit_test(test_held_sides_and_order),
		cmocka_unit_test(test_clocks_know_what_is_before),
		cmocka_unit_test(test_clocks_readers),
		cmocka_unit_test(test_periods_against_reachability),
		cmocka_unit_test(test_periods_unasked_take_no_room),
		cmocka_unit_test(test_barrier_separates_periods),
		cmocka_unit_test(test_atomics_pass_order),
		cmocka_unit_test(test_diary_asks_for_variables),
		cmocka_unit_test(test_diary_has_nothing_twice),
		cmocka_unit_test(test_diary_forgets_the_oldest),
		cmocka_unit_test(test_diary_puts_the_late_in_their_places),
		cmocka_unit_test(test_extents_against_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
