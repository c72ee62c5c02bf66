/* SPDX-License-Identifier: MIT */
/* Escape analysis: each rule alone, then all of them at random against a model that keeps everything by the byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/arena.h"
#include "base/rng.h"
#include "state/escape.h"

/* ---- Each rule alone. ---- */

static struct arena arena;
static struct escape escape;

static int setup(void **state)
{
	(void)state;
	arena_init(&arena);
	escape_init(&escape, &arena);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(&arena);
	return 0;
}

static void alloc(uint32_t line, uint64_t p, uint64_t n)
{
	escape_alloc(&escape, &(struct event){.kind = EVENT_ALLOC, .flags = EVENT_ADDRESSED, .line = line, .object = p, .count = n});
}

static void release(uint32_t line, uint64_t p)
{
	escape_free(&escape, &(struct event){.kind = EVENT_FREE, .flags = EVENT_ADDRESSED, .line = line, .object = p});
}

static bool read_at(uint32_t line, uint64_t p)
{
	return escape_access(&escape, &(struct event){.kind = EVENT_READ, .flags = EVENT_ADDRESSED, .line = line, .object = p});
}

static bool write_value(uint32_t line, uint64_t p, uint64_t value)
{
	return escape_access(&escape, &(struct event){.kind = EVENT_WRITE, .line = line, .object = p, .size = 8,
		.flags = EVENT_ADDRESSED | EVENT_SIZED | EVENT_VALUED, .value = value});
}

static bool write_unknown(uint32_t line, uint64_t p, uint32_t size)
{
	return escape_access(&escape, &(struct event){.kind = EVENT_WRITE, .line = line, .object = p, .size = size,
		.flags = EVENT_ADDRESSED | EVENT_SIZED});
}

static void test_own(void **state)
{
	(void)state;
	assert_false(read_at(1, 0x1000));
	alloc(1, 0x1000, 64);
	assert_true(read_at(1, 0x1000));
	assert_true(read_at(1, 0x103f));
	assert_false(read_at(1, 0x0fff));
	assert_false(read_at(1, 0x1040));
	assert_true(write_unknown(1, 0x1000, 64));
	assert_false(write_unknown(1, 0x103c, 7));
	assert_true(read_at(1, 0x1000));
	release(1, 0x1000);
	assert_false(read_at(1, 0x1000));
}

static void test_touched_by_another(void **state)
{
	(void)state;
	alloc(1, 0x1000, 64);
	assert_false(read_at(2, 0x1020));
	assert_false(read_at(1, 0x1000));
}

static void test_pointer_stored(void **state)
{
	(void)state;
	alloc(1, 0x1000, 64);
	assert_false(write_value(1, 0x9000, 0x1040));
	assert_true(read_at(1, 0x1000));
	write_value(1, 0x9000, 0x103f);
	assert_false(read_at(1, 0x1000));
	alloc(1, 0x1000, 64);
	escape_access(&escape, &(struct event){.kind = EVENT_ATOMIC_STORE, .line = 1, .object = 3, .flags = EVENT_VALUED, .value = 0x1000});
	assert_false(read_at(1, 0x1000));
}

/* A small write holds no pointer; a large one, or a read-modify-write, may hold any of its line. */
static void test_unknown_stored(void **state)
{
	(void)state;
	alloc(1, 0x1000, 64);
	alloc(2, 0x2000, 64);
	write_unknown(1, 0x9000, 4);
	assert_true(read_at(1, 0x1000));
	write_unknown(1, 0x9000, 8);
	assert_false(read_at(1, 0x1000));
	assert_true(read_at(2, 0x2000));
	escape_access(&escape, &(struct event){.kind = EVENT_ATOMIC_RMW, .line = 2, .object = 3, .flags = EVENT_VALUED, .value = 1});
	assert_false(read_at(2, 0x2000));
}

static void test_fork(void **state)
{
	(void)state;
	alloc(1, 0x1000, 64);
	alloc(2, 0x2000, 64);
	alloc(3, 0x3000, 64);
	escape_fork(&escape, &(struct event){.kind = EVENT_FORK, .line = 1}, 2);
	assert_false(read_at(1, 0x1000));
	assert_false(read_at(2, 0x2000));
	assert_true(read_at(3, 0x3000));
}

static void test_cascade(void **state)
{
	(void)state;
	for (uint64_t p = 0x1000; p < 0x6000; p += 0x1000)
		alloc(1, p, 64);
	assert_true(write_value(1, 0x1008, 0x2000));
	assert_true(write_value(1, 0x2010, 0x3004));
	assert_true(write_value(1, 0x3000, 0x1000));
	assert_true(write_value(1, 0x1000, 0x4000));
	assert_true(write_value(1, 0x1000, 0)); /* overwritten */
	write_value(1, 0x9000, 0x1000);
	assert_false(read_at(1, 0x1000));
	assert_false(read_at(1, 0x2000));
	assert_false(read_at(1, 0x3000));
	assert_true(read_at(1, 0x4000));
	assert_true(write_unknown(1, 0x4000, 16));
	assert_true(read_at(1, 0x5000));
	write_value(1, 0x9000, 0x4000);
	assert_false(read_at(1, 0x5000));
}

static void test_moved(void **state)
{
	(void)state;
	alloc(1, 0x1000, 64);
	alloc(1, 0x2000, 64);
	write_value(1, 0x1000, 0x2000);
	release(1, 0x1000);
	alloc(1, 0x3000, 64);
	write_value(1, 0x9000, 0x3000);
	assert_false(read_at(1, 0x2000));
	alloc(1, 0x1000, 64);
	alloc(1, 0x2000, 64);
	write_value(1, 0x1000, 0x2000);
	release(1, 0x1000);
	read_at(1, 0x2000);
	alloc(1, 0x3000, 64);
	write_value(1, 0x9000, 0x3000);
	assert_true(read_at(1, 0x2000));
}

static void test_strange_addresses(void **state)
{
	(void)state;
	alloc(1, 0, UINT64_MAX);
	assert_true(read_at(1, 0));
	assert_true(read_at(1, UINT64_MAX - 1));
	assert_false(read_at(1, UINT64_MAX));
	alloc(1, UINT64_MAX - 7, UINT64_MAX); /* and the one before is given up */
	assert_true(read_at(1, UINT64_MAX));
	assert_false(read_at(1, 0));
	assert_false(write_unknown(1, UINT64_MAX - 8, EVENT_SIZE_MOST));
	alloc(2, 0x1000, 0);
	assert_false(read_at(2, 0x1000));
	release(2, 0x1000);
	alloc(2, 0x1000, 64);
	release(2, 0x1004); /* not what was given out */
	assert_false(read_at(2, 0x1000));
}

/* ---- Against the model. ---- */

enum { MEMORY = 256, LINES = 3, ROUNDS = 400000, LIVES = ROUNDS + 1 };

/* By the byte: its unescaped life (0 for none), the pointer that was stored at it. By life: the line, the rest. */
static struct {
	uint32_t life[MEMORY];
	bool pointed[MEMORY];
	uint64_t to[MEMORY];
	uint8_t line[LIVES];
	bool unknown[LIVES];
	uint32_t lives;
	bool freed[LINES + 1];
} model;

static uint32_t model_at(uint64_t p)
{
	return p < MEMORY ? model.life[p] : 0;
}

static bool is_alive(uint32_t life)
{
	for (size_t i = 0; i < MEMORY; i++)
		if (life && model.life[i] == life)
			return true;
	return false;
}

static void model_end(uint32_t life)
{
	for (size_t i = 0; i < MEMORY; i++)
		if (model.life[i] == life) {
			model.life[i] = 0;
			model.pointed[i] = false;
		}
}

/* One after the other; who is already out is not found any more. */
static void model_escape(uint32_t life)
{
	static uint32_t queue[2 * MEMORY * MEMORY];
	size_t count = 0;

	queue[count++] = life;
	for (size_t k = 0; k < count; k++) {
		life = queue[k];
		for (size_t i = 0; i < MEMORY && life; i++) {
			if (model.life[i] == life && model.pointed[i] && model_at(model.to[i]))
				queue[count++] = model_at(model.to[i]);
			if (model.unknown[life] && model.life[i] && model.line[model.life[i]] == model.line[life])
				queue[count++] = model.life[i];
		}
		if (life)
			model_end(life);
		while (k + 1 < count && !is_alive(queue[k + 1]))
			k++;
	}
}

static void model_escape_line(uint32_t line)
{
	for (size_t i = 0; i < MEMORY; i++)
		if (model.life[i] && model.line[model.life[i]] == line)
			model_escape(model.life[i]);
}

static uint64_t model_last(uint64_t p, uint64_t n)
{
	return p + n - 1 < MEMORY ? p + n - 1 : MEMORY - 1;
}

static void model_alloc(const struct event *e)
{
	uint64_t last = model_last(e->object, e->count);

	for (uint64_t i = e->object; i <= last; i++)
		model_escape(model.life[i]);
	model.lives++;
	model.line[model.lives] = (uint8_t)e->line;
	model.unknown[model.lives] = model.freed[e->line];
	model.freed[e->line] = false;
	for (uint64_t i = e->object; i <= last; i++)
		model.life[i] = model.lives;
}

static void model_free(const struct event *e)
{
	uint32_t life = model_at(e->object);
	bool held = model.unknown[life];

	for (size_t i = 0; i < MEMORY; i++)
		held |= model.life[i] == life && model.pointed[i];
	model.freed[e->line] = life && held;
	if (life && (model.line[life] != e->line || (e->object && model.life[e->object - 1] == life)))
		model_escape(life);
	else if (life)
		model_end(life);
}

static void model_store(const struct event *e, uint32_t inside)
{
	bool known = e->flags & EVENT_VALUED && e->kind == EVENT_WRITE && e->size == 8;
	uint32_t to = model_at(e->value);

	if (!inside && known) {
		model_escape(to);
	} else if (!inside) {
		model_escape_line(e->line);
	} else if (!known) {
		model.unknown[inside] = true;
	} else if (to && model.line[to] != e->line) {
		model_escape(to);
	} else if (to || model.pointed[e->object]) {
		model.pointed[e->object] = true;
		model.to[e->object] = e->value;
	}
}

static bool model_access(const struct event *e)
{
	uint32_t inside = model_at(e->object);

	if (model.lives)
		model.freed[e->line] = false;
	for (uint64_t i = e->object; i < e->object + e->size; i++) {
		if (model_at(i) && model.line[model_at(i)] != e->line)
			model_escape(model_at(i));
		if (model_at(i) != inside || model_at(i) != model_at(e->object))
			inside = 0;
	}
	if (e->kind != EVENT_READ && e->size >= 8)
		model_store(e, inside);
	return inside && model_at(e->object) == inside;
}

/* The fast path does not see a line's accesses while nothing is unescaped, and need not. */
static bool model_empty(void)
{
	for (size_t i = 0; i < MEMORY; i++)
		if (model.life[i])
			return false;
	return true;
}

static void random_access(struct rng *r, struct event *e)
{
	static const uint8_t kinds[] = {EVENT_READ, EVENT_WRITE, EVENT_WRITE, EVENT_WRITE, EVENT_ATOMIC_RMW};
	static const uint32_t sizes[] = {1, 4, 8, 8, 8, 8, 16};
	bool freed = model.freed[e->line], empty = model_empty();

	e->kind = kinds[rng_below(r, sizeof kinds)];
	if (e->kind == EVENT_ATOMIC_RMW && rng_below(r, 8))
		e->kind = EVENT_READ;
	e->size = sizes[rng_below(r, 7)];
	e->flags |= EVENT_SIZED;
	if (rng_below(r, 40))
		e->flags |= EVENT_VALUED;
	e->value = rng_below(r, rng_below(r, 4) ? MEMORY : 100000);
	assert_int_equal(escape_access(&escape, e), model_access(e));
	if (empty)
		model.freed[e->line] = freed;
}

static void test_against_model(void **state)
{
	struct rng r = {5};
	size_t private = 0;

	(void)state;
	memset(&model, 0, sizeof model);
	for (size_t round = 0; round < ROUNDS; round++) {
		struct event e = {.flags = EVENT_ADDRESSED, .line = 1 + rng_below(&r, LINES)};
		uint32_t what = rng_below(&r, 1000), other = 1 + rng_below(&r, LINES);

		e.object = rng_below(&r, MEMORY);
		if (what < 150) {
			e.count = 1 + rng_below(&r, 1 + rng_below(&r, 40));
			e.count = model_last(e.object, e.count) - e.object + 1;
			escape_alloc(&escape, &e);
			model_alloc(&e);
		} else if (what < 200) {
			escape_free(&escape, &e);
			model_free(&e);
		} else if (what < 202) {
			escape_fork(&escape, &e, other);
			model_escape_line(e.line);
			model_escape_line(other);
		} else {
			if (model_at(e.object) && rng_below(&r, 50))
				e.line = model.line[model_at(e.object)];
			random_access(&r, &e);
		}
		for (uint64_t p = 0; p < MEMORY && round % 16 == 0; p++) {
			uint32_t life = model.life[p];

			if (life && read_at(model.line[life], p)) {
				model.freed[model.line[life]] = false;
				private++;
			} else {
				assert_int_equal(life, 0);
			}
		}
	}
	assert_true(private > ROUNDS / 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_own, setup, teardown),
		cmocka_unit_test_setup_teardown(test_touched_by_another, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pointer_stored, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_stored, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fork, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cascade, setup, teardown),
		cmocka_unit_test_setup_teardown(test_moved, setup, teardown),
		cmocka_unit_test_setup_teardown(test_strange_addresses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_against_model, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
