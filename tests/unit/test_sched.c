/* SPDX-License-Identifier: MIT */
/*
 * Orders and strategies, on a program that is only pretended: a few threads, each a list of operations on locks and
 * variables. Every strategy picks only who can go on, the same for the same seed; plans reach their milestones, replays
 * give the same sequence; who yields is not kept waiting for ever.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event/event.h"
#include "sched/order.h"
#include "sched/strategy.h"

enum { THREADS = 4, LOCKS = 8, LENGTH_MOST = 4096, OPERATIONS = 64 };

struct operation {
	uint32_t kind;
	uint32_t object;
};

struct program {
	uint32_t threads;
	uint32_t length[THREADS];
	struct operation operation[THREADS][OPERATIONS];
};

/* What a run of it did. */
struct outcome {
	uint32_t steps;
	uint32_t thread[LENGTH_MOST]; /* numbers */
	uint32_t at[LENGTH_MOST];     /* which of its operations */
	bool deadlock;
};

struct simulation {
	const struct program *program;
	struct sched sched;
	struct sched_thread view[THREADS];
	uint32_t at[THREADS];
	uint32_t owner[LOCKS]; /* number of the thread, 0: free */
};

static struct operation pending(const struct simulation *m, uint32_t i)
{
	return m->program->operation[i][m->at[i]];
}

/* Each operation is a place of its own, so occurrences are all 1. */
static void show(struct simulation *m)
{
	for (uint32_t i = 0; i < m->program->threads; i++) {
		struct sched_thread *t = &m->view[i];
		uint64_t since = t->since;
		struct operation o;

		if (m->at[i] == m->program->length[i]) {
			*t = (struct sched_thread){0};
			continue;
		}
		o = pending(m, i);
		if (t->offset != m->at[i] + 1u)
			since = m->sched.step;
		*t = (struct sched_thread){.number = i + 1, .kind = o.kind, .object = o.object, .occurrence = 1,
			.offset = m->at[i] + 1u, .since = since, .runnable = true, .yields = o.kind == ORDER_YIELD};
		if (o.kind == EVENT_ACQUIRE && m->owner[o.object] && m->owner[o.object] != i + 1) {
			t->runnable = false;
			t->blocker = m->owner[o.object];
		}
	}
}

static void perform(struct simulation *m, uint32_t i)
{
	struct operation o = pending(m, i);

	if (o.kind == EVENT_ACQUIRE)
		m->owner[o.object] = i + 1;
	if (o.kind == EVENT_RELEASE)
		m->owner[o.object] = 0;
	m->at[i]++;
}

/* As the gate does: `quiet` steps of the picked thread are not asked about. */
static struct outcome simulate(const struct program *p, const struct order *o, struct sched *end)
{
	const struct strategy *g = strategy_named(o->strategy);
	struct simulation m = {.program = p};
	struct outcome out = {0};
	uint64_t quiet = 0;

	sched_start(&m.sched, o);
	m.sched.thread = m.view;
	m.sched.threads = m.sched.born = p->threads;
	for (m.sched.step = 1; m.sched.step < LENGTH_MOST; m.sched.step++) {
		uint32_t i = m.sched.current;

		show(&m);
		if (!quiet || !m.view[i].number || !m.view[i].runnable) {
			i = sched_pick(&m.sched, g);
			quiet = m.sched.quiet;
		} else {
			quiet--;
		}
		if (i == SCHED_NOBODY) {
			for (uint32_t t = 0; t < p->threads; t++)
				out.deadlock |= m.at[t] < p->length[t];
			break;
		}
		assert_true(i < p->threads);
		assert_true(m.view[i].number && m.view[i].runnable);
		out.thread[out.steps] = i + 1;
		out.at[out.steps++] = m.at[i];
		perform(&m, i);
		m.sched.current = i;
	}
	if (end)
		*end = m.sched;
	return out;
}

/* Each thread: lock, two accesses, unlock, and again. */
static struct program usual(void)
{
	static const struct operation round[] = {
		{EVENT_ACQUIRE, 1}, {EVENT_READ, 5}, {EVENT_WRITE, 5}, {EVENT_RELEASE, 1}, {EVENT_READ, 6}, {EVENT_WRITE, 6},
	};
	struct program p = {.threads = 3};

	for (uint32_t t = 0; t < p.threads; t++)
		for (uint32_t i = 0; i < 12; i++)
			p.operation[t][p.length[t]++] = round[i % 6];
	return p;
}

static struct order *make(const char *strategy, uint64_t seed, uint32_t steps)
{
	struct order *o = calloc(1, sizeof *o + sizeof(struct order_module) + steps * sizeof(struct order_step));

	assert_non_null(o);
	*o = (struct order){.magic = ORDER_MAGIC, .version = ORDER_VERSION, .seed = seed, .modules = 1, .steps = steps};
	strcpy(o->strategy, strategy);
	strcpy(((struct order_module *)(o + 1))->name, "program");
	return o;
}

static struct order_step *step(struct order *o, uint32_t i)
{
	return (struct order_step *)(uintptr_t)order_step(o, i);
}

static const char *check(const struct order *o)
{
	return order_check(o, order_bytes(o));
}

static bool is_same(const struct outcome *a, const struct outcome *b)
{
	return a->steps == b->steps && memcmp(a->thread, b->thread, a->steps * sizeof *a->thread) == 0;
}

/* Strategies. */

static void test_complete(void **state)
{
	struct program p = usual();

	(void)state;
	for (const struct strategy *const *g = strategies; *g; g++)
		for (uint64_t seed = 0; seed < 200; seed++) {
			struct order *o = make((*g)->name, seed, 0);
			struct outcome a = simulate(&p, o, NULL), b = simulate(&p, o, NULL);

			assert_null(check(o));
			assert_int_equal(a.steps, 36);
			assert_false(a.deadlock);
			assert_true(is_same(&a, &b));
			free(o);
		}
}

/* Those that are random have many orders; a seed is no decoration. */
static void test_seeds_differ(void **state)
{
	static const char *const random[] = {"pos", "pct", "random", "atomfuzzer"};
	struct program p = usual();

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct order *o = make(random[i], 0, 0);
		struct outcome first = simulate(&p, o, NULL);
		uint32_t other = 0;

		for (o->seed = 1; o->seed < 100; o->seed++) {
			struct outcome out = simulate(&p, o, NULL);

			other += !is_same(&first, &out);
		}
		assert_true(other > 50);
		free(o);
	}
}

/* Two locks in both orders: some seed must meet the deadlock, and it is told as one. */
static void test_deadlock(void **state)
{
	static const char *const random[] = {"pos", "pct", "random"};
	struct program p = {.threads = 2, .length = {4, 4}, .operation = {
		{{EVENT_ACQUIRE, 1}, {EVENT_ACQUIRE, 2}, {EVENT_RELEASE, 2}, {EVENT_RELEASE, 1}},
		{{EVENT_ACQUIRE, 2}, {EVENT_ACQUIRE, 1}, {EVENT_RELEASE, 1}, {EVENT_RELEASE, 2}},
	}};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		uint32_t dead = 0, fine = 0;

		for (uint64_t seed = 0; seed < 100; seed++) {
			struct order *o = make(random[i], seed, 0);
			struct outcome out = simulate(&p, o, NULL);

			dead += out.deadlock;
			fine += !out.deadlock && out.steps == 8;
			free(o);
		}
		assert_true(dead > 0);
		assert_true(fine > 0);
		assert_int_equal(dead + fine, 100);
	}
}

static void set(struct order *o, uint32_t i, uint32_t thread, struct operation what, uint64_t offset)
{
	*step(o, i) = (struct order_step){.thread = thread, .kind = what.kind, .offset = offset, .occurrence = 1};
}

/* Thread 2's second section between the two of thread 1, although thread 3 holds the lock on the way. */
static void test_plan(void **state)
{
	struct program p = usual();
	struct order *o = make("plan", 1, 4);
	struct sched end;
	struct outcome out;
	uint32_t place[4] = {0}, found = 0;

	(void)state;
	set(o, 0, 3, p.operation[2][1], 2);
	set(o, 1, 1, p.operation[0][2], 3);
	set(o, 2, 2, p.operation[1][8], 9);
	set(o, 3, 1, p.operation[0][7], 8);
	assert_null(check(o));
	out = simulate(&p, o, &end);
	assert_int_equal(end.done, 4);
	assert_false(end.diverged);
	assert_int_equal(out.steps, 36);
	for (uint32_t i = 0; i < out.steps && found < 4; i++)
		if (out.thread[i] == step(o, found)->thread && out.at[i] + 1 == step(o, found)->offset)
			place[found++] = i;
	assert_int_equal(found, 4);
	/* The owner went on only until it released: its fourth operation, and not its fifth, came before. */
	for (uint32_t i = 0; i < place[1]; i++)
		assert_false(out.thread[i] == 3 && out.at[i] > 3);
	free(o);
}

/* Inside of each other's sections: cannot be. The run goes on all the same. */
static void test_plan_diverges(void **state)
{
	struct program p = usual();
	struct order *o = make("plan", 1, 3);
	struct sched end;
	struct outcome out;

	(void)state;
	set(o, 0, 1, p.operation[0][1], 2);
	set(o, 1, 2, p.operation[1][1], 2);
	set(o, 2, 1, p.operation[0][2], 3);
	out = simulate(&p, o, &end);
	assert_true(end.diverged);
	assert_int_equal(end.done, 1);
	assert_int_equal(out.steps, 36);
	/* A thread that is over cannot do what it has not done. */
	set(o, 0, 1, (struct operation){EVENT_READ, 5}, 77);
	out = simulate(&p, o, &end);
	assert_true(end.diverged);
	assert_int_equal(out.steps, 36);
	free(o);
}

/* Thread 1 yields on its way for as long as anybody asks; thread 2, for which it waits, stands at its own milestone. */
static void test_plan_in_vain(void **state)
{
	const struct strategy *g = strategy_named("plan");
	struct order *o = make("plan", 1, 2);
	struct sched_thread view[2] = {
		{.number = 1, .runnable = true, .yields = true, .kind = ORDER_YIELD, .offset = 1, .occurrence = 1},
		{.number = 2, .runnable = true, .kind = EVENT_READ, .offset = 2, .occurrence = 1},
	};
	struct sched s;
	uint32_t slot = 0;

	(void)state;
	set(o, 0, 1, (struct operation){EVENT_READ, 5}, 9);
	set(o, 1, 2, (struct operation){EVENT_READ, 5}, 2);
	sched_start(&s, o);
	s.thread = view;
	s.threads = s.born = 2;
	for (s.step = 1; s.step < 1000 && !slot; s.step++) {
		view[0].since = s.step;
		slot = sched_pick(&s, g);
	}
	assert_int_equal(slot, 1);
	assert_true(s.diverged);
	assert_in_range(s.step, 100, 500);
	free(o);
}

/* From what a run did: a step for each segment. */
static struct order *replay_of(const struct program *p, const struct outcome *out)
{
	struct order *o = make("replay", 0, out->steps);
	uint32_t n = 0;

	for (uint32_t i = 0; i < out->steps; i++) {
		if (!i || out->thread[i] != out->thread[i - 1])
			n++;
		*step(o, n - 1) = (struct order_step){.thread = out->thread[i], .run = step(o, n - 1)->run + 1,
			.kind = p->operation[out->thread[i] - 1][out->at[i]].kind, .offset = out->at[i] + 1};
	}
	o->steps = n;
	return o;
}

static void test_replay(void **state)
{
	struct program p = usual();

	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct order *o = make(seed % 2 ? "pos" : "random", seed, 0), *again;
		struct outcome first = simulate(&p, o, NULL), second;
		struct sched end;

		again = replay_of(&p, &first);
		assert_null(check(again));
		second = simulate(&p, again, &end);
		assert_true(is_same(&first, &second));
		assert_false(end.diverged);
		free(again);
		free(o);
	}
}

/* Another program: noticed at the first place that is not as it was. */
static void test_replay_diverges(void **state)
{
	struct program p = usual(), other = p;
	struct order *o = make("random", 3, 0), *again;
	struct outcome first = simulate(&p, o, NULL), second;
	struct sched end;

	(void)state;
	again = replay_of(&p, &first);
	for (uint32_t i = 0; i < OPERATIONS; i++)
		if (other.operation[1][i].kind == EVENT_READ)
			other.operation[1][i].kind = EVENT_WRITE;
	second = simulate(&other, again, &end);
	assert_true(end.diverged);
	assert_true(end.diverged_at > 0 && end.diverged_at <= second.steps);
	assert_int_equal(second.steps, 36);
	free(again);
	free(o);
}

/* Thread 1 only yields, thread 2 has much to do: the first stands back, but not for ever. */
static void test_yields(void **state)
{
	struct sched_thread view[2] = {{.number = 1, .runnable = true, .yields = true, .since = 1},
		{.number = 2, .runnable = true, .kind = EVENT_READ, .object = 1}};

	(void)state;
	for (const struct strategy *const *g = strategies; *g; g++) {
		struct order *o = make((*g)->name, 5, 0);
		struct sched s;
		uint64_t i;

		sched_start(&s, o);
		s.thread = view;
		s.threads = s.born = 2;
		for (i = 1; i < 3 * SCHED_PATIENCE; i++) {
			s.step = i;
			s.current = sched_pick(&s, *g);
			if (s.current == 0)
				break;
		}
		if (strcmp((*g)->name, "random") == 0 || strcmp((*g)->name, "pos") == 0)
			assert_int_equal(s.current, 0);
		assert_true(s.current == 1 || i > SCHED_PATIENCE);
		view[1].yields = true;
		view[1].since = view[0].since = s.step;
		assert_true(sched_pick(&s, *g) < 2);
		view[1].yields = false;
		view[0].since = 1;
		free(o);
	}
}

/* Time limits: only when nobody else can, the first one first; who is away is waited for. */
static void test_expiring(void **state)
{
	struct sched_thread view[3] = {{.number = 1, .expiring = true, .until = 20},
		{.number = 2, .expiring = true, .until = 10}, {.number = 3, .runnable = true}};

	(void)state;
	for (const struct strategy *const *g = strategies; *g; g++) {
		struct order *o = make((*g)->name, 5, 0);
		struct sched s;

		sched_start(&s, o);
		s.thread = view;
		s.threads = s.born = 3;
		s.step = 1;
		view[2].runnable = true;
		view[2].away = false;
		view[0].expiring = view[1].expiring = true;
		assert_int_equal(sched_pick(&s, *g), 2);
		view[2].runnable = false;
		assert_int_equal(sched_pick(&s, *g), 1);
		view[0].expiring = view[1].expiring = false;
		assert_int_equal(sched_pick(&s, *g), SCHED_NOBODY);
		view[2].away = true;
		assert_int_equal(sched_pick(&s, *g), SCHED_LATER);
		free(o);
	}
}

static void test_budget(void **state)
{
	struct program p = usual();
	struct order *o = make("random", 5, 0);
	struct outcome out;
	uint32_t changes = 0;

	(void)state;
	o->budget = 4;
	out = simulate(&p, o, NULL);
	assert_int_equal(out.steps, 36);
	for (uint32_t i = 5; i < out.steps; i++)
		changes += out.thread[i] != out.thread[i - 1];
	assert_true(changes <= 4);
	free(o);
}

/* Orders. */

static void test_check(void **state)
{
	struct order *o = make("plan", 1, 2), saved;
	size_t bytes = order_bytes(o);
	struct order_module *module = (struct order_module *)(o + 1);

	(void)state;
	set(o, 0, 1, (struct operation){EVENT_READ, 0}, 7);
	set(o, 1, 1, (struct operation){ORDER_FINISH, 0}, 0);
	assert_null(order_check(o, bytes));
	for (size_t n = 0; n < bytes; n++)
		assert_non_null(order_check(o, n));
	assert_non_null(order_check(o, bytes + 1));
	saved = *o;
#define REFUSED(change, undo) change; assert_non_null(order_check(o, bytes)); undo; assert_null(order_check(o, bytes))
	REFUSED(o->magic++, *o = saved);
	REFUSED(o->version++, *o = saved);
	REFUSED(memset(o->strategy, 'p', sizeof o->strategy), *o = saved);
	REFUSED(strcpy(o->strategy, "plans"), *o = saved);
	REFUSED(o->depth = ORDER_DEPTH_MOST + 1, *o = saved);
	REFUSED(o->stop = 2, *o = saved);
	REFUSED(o->steps = 3, *o = saved);
	REFUSED(o->steps = UINT32_MAX, *o = saved);
	REFUSED(o->modules = UINT32_MAX, *o = saved);
	REFUSED(module->name[0] = 0, module->name[0] = 'p');
	REFUSED(module->name[1] = '/', module->name[1] = 'r');
	REFUSED(module->name[1] = '\n', module->name[1] = 'r');
	REFUSED(module->build_id[0] = 'g', module->build_id[0] = 0);
	REFUSED(memset(module->build_id, 'a', ORDER_BUILD_ID), memset(module->build_id, 0, ORDER_BUILD_ID));
	REFUSED(step(o, 0)->thread = 0, step(o, 0)->thread = 1);
	REFUSED(step(o, 0)->kind = 0, step(o, 0)->kind = EVENT_READ);
	REFUSED(step(o, 0)->kind = EVENT_KINDS, step(o, 0)->kind = EVENT_READ);
	REFUSED(step(o, 0)->kind = ORDER_KINDS, step(o, 0)->kind = EVENT_READ);
	REFUSED(step(o, 0)->module = 1, step(o, 0)->module = 0);
	REFUSED(step(o, 0)->module = ORDER_NO_MODULE, step(o, 0)->module = 0);
	REFUSED(step(o, 0)->offset = (uint64_t)1 << 48, step(o, 0)->offset = 7);
	REFUSED(step(o, 0)->occurrence = 0, step(o, 0)->occurrence = 1);
	REFUSED(step(o, 0)->run = 1, step(o, 0)->run = 0);
	REFUSED(step(o, 0)->flags = 8, step(o, 0)->flags = 0);
	REFUSED(step(o, 0)->saw = 1, step(o, 0)->saw = 0);
	strcpy(o->strategy, "replay");
	assert_non_null(order_check(o, bytes));
	step(o, 0)->run = step(o, 1)->run = 1;
	assert_null(order_check(o, bytes));
	free(o);
}

/* Whatever the bytes are, checking them ends, and what is let through can be run. */
static void test_hostile(void **state)
{
	struct order *o = make("replay", 1, 8);
	size_t bytes = order_bytes(o);
	struct program p = usual();
	uint64_t random = 1;

	(void)state;
	for (uint32_t i = 0; i < 8; i++)
		*step(o, i) = (struct order_step){.thread = 1 + i % 3, .kind = EVENT_READ, .offset = 2, .run = 1 + i};
	for (unsigned n = 0; n < 20000; n++) {
		unsigned char *at = (unsigned char *)o, before;
		size_t where;

		random = random * 6364136223846793005u + 1442695040888963407u;
		where = (random >> 33) % bytes;
		before = at[where];
		at[where] ^= (unsigned char)(1 << (random >> 20) % 8);
		if (!order_check(o, bytes))
			assert_int_equal(simulate(&p, o, NULL).steps, 36);
		at[where] = before;
	}
	free(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_complete),
		cmocka_unit_test(test_seeds_differ),
		cmocka_unit_test(test_deadlock),
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_plan_diverges),
		cmocka_unit_test(test_plan_in_vain),
		cmocka_unit_test(test_replay),
		cmocka_unit_test(test_replay_diverges),
		cmocka_unit_test(test_yields),
		cmocka_unit_test(test_expiring),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
