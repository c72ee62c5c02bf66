/* SPDX-License-Identifier: MIT */
/* Records of transactions: what is kept, what is taken for equal, and what is left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/arena.h"
#include "base/rng.h"
#include "state/record.h"

static struct arena arena;
static struct records records;
static struct recording recording;

static int setup(void **state)
{
	(void)state;
	arena_init(&arena);
	records_init(&records, &arena);
	memset(&recording, 0, sizeof recording);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(&arena);
	return 0;
}

static void begin(uint64_t seq)
{
	recording_begin(&records, &recording, &(struct event){.thread = 7, .seq = seq});
}

/* Operations by letters: read, write, acquire, release, open, close; the object is the letter before. Each an event. */
static bool add(const char *text, uint64_t *seq)
{
	static const struct {
		char letter;
		uint16_t kind;
	} kinds[] = {{'r', EVENT_READ}, {'w', EVENT_WRITE}, {'a', EVENT_ACQUIRE}, {'l', EVENT_RELEASE}, {'(', RECORD_OPEN}, {')', RECORD_CLOSE}};

	for (; text[0]; text += 2) {
		size_t k = 0;
		struct op op = {.site = (unsigned char)text[1]};

		while (kinds[k].letter != text[1])
			k++;
		op.kind = kinds[k].kind;
		if (!recording_add(&records, &recording, op, (uint32_t)(text[0] - '0'), (*seq)++))
			return false;
	}
	return true;
}

static void record(const char *text, uint64_t seq)
{
	begin(seq);
	assert_true(add(text, &seq));
	recording_end(&records, &recording, false);
}

/* The record as text again. */
static const char *text_of(uint32_t number)
{
	static char text[2 * RECORD_MOST + 1];
	struct record r = record_read(&records, number);

	for (size_t i = 0; i < r.count; i++) {
		text[2 * i] = (char)('0' + r.item[i].object);
		text[2 * i + 1] = (char)op_at(&records, r.item[i].op)->site;
	}
	text[2 * r.count] = 0;
	return text;
}

static void test_equal_once(void **state)
{
	struct record r;
	size_t bytes;

	(void)state;
	record("0(1a2r2w1l", 10);
	record("0(1a2r3w1l", 20);
	bytes = arena.bytes;
	for (uint64_t i = 0; i < 100000; i++)
		record("0(1a2r2w1l", 100 + 7 * i);
	assert_int_equal(records.records, 2);
	assert_int_equal(arena.bytes, bytes);
	r = record_read(&records, 1);
	assert_int_equal(r.times, 100001);
	assert_int_equal(r.begin, 10);
	assert_int_equal(r.thread, 7);
	assert_int_equal(r.count, 5);
	assert_int_equal(r.item[4].after, 4);
	assert_false(r.cut_off);
	assert_string_equal(text_of(1), "0(1a2r2w1l");
}

/* Until another sort of operation comes, of an access two are kept; the places of the others count. */
static void test_accesses_twice(void **state)
{
	(void)state;
	record("0(2r2r2r3r2r3r3r1a2r2r2r", 1);
	assert_string_equal(text_of(1), "0(2r2r3r3r1a2r2r");
}

static void test_loops(void **state)
{
	static const struct {
		const char *in, *out;
	} loops[] = {
		{"0(1a2r1l1a2r1l1a2r1l1a2r1l5w", "0(1a2r1l1a2r1l5w"},
		{"0(6(1a1l0)6(1a1l0)6(1a1l0)6(1a1l0)7w", "0(6(1a1l0)6(1a1l0)7w"},
		/* what is not closed is not left out, nor what closes something older */
		{"0(5(5(5(5(5(", "0(5(5(5(5(5("},
		{"0(5(5(5(5(0)0)0)0)", "0(5(5(5(5(0)0)0)0)"},
		{"0(1a2r1l1a2r1l1a3r1l1a2r1l", "0(1a2r1l1a2r1l1a3r1l1a2r1l"},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof loops / sizeof *loops; i++) {
		record(loops[i].in, 1);
		assert_string_equal(text_of(i + 1), loops[i].out);
	}
}

/* A loop of any length takes the room of a few rounds: more than two where its parts look alike. */
static void test_long_loop(void **state)
{
	static const char *const round[] = {"1a2r3w1l4a5(2w0)4l", "1a1l2a2l1a1l", "1a1l1a1l2a1a1l"};
	static const size_t items[] = {9, 6, 7};

	(void)state;
	for (uint32_t k = 0; k < 3; k++) {
		uint64_t seq = 1;

		begin(1);
		assert_true(add("0(", &seq));
		for (size_t i = 0; i < 4 * RECORD_MOST; i++)
			assert_true(add(round[k], &seq));
		recording_end(&records, &recording, false);
		assert_in_range(record_read(&records, k + 1).count, 1 + 2 * items[k], 1 + 4 * items[k]);
	}
}

static void test_cut_off(void **state)
{
	struct rng r = {1};
	char text[] = "0a";
	uint64_t seq = 1;
	size_t added = 0;

	(void)state;
	begin(1);
	do {
		text[0] = (char)('0' + rng_below(&r, 60));
		added++;
	} while (add(text, &seq));
	assert_true(added > RECORD_MOST);
	recording_end(&records, &recording, true);
	assert_int_equal(record_read(&records, 1).count, RECORD_MOST);
	assert_true(record_read(&records, 1).cut_off);
	begin(1);
	assert_false(recording_add(&records, &recording, (struct op){.kind = EVENT_READ}, 1, 1 + ((uint64_t)1 << 32)));
}

/* Random sequences without loops come back as they were. */
static void test_round_trip(void **state)
{
	enum { ROUNDS = 20000, LENGTH = 40 };
	struct rng r = {2};
	struct item want[LENGTH];

	(void)state;
	for (size_t round = 0; round < ROUNDS; round++) {
		uint64_t first = rng_next(&r) >> (24 + rng_below(&r, 40)), seq = first;
		uint32_t length = rng_below(&r, LENGTH), before = records.records;
		struct record got;

		begin(first);
		for (uint32_t i = 0; i < length; i++) {
			struct op op = {.kind = EVENT_ACQUIRE, .site = rng_below(&r, 5), .flags = (uint16_t)rng_below(&r, 2)};

			want[i] = (struct item){0, (uint32_t)rng_next(&r) >> rng_below(&r, 32), (uint32_t)(seq - first)};
			assert_true(recording_add(&records, &recording, op, want[i].object, seq));
			want[i].op = recording.item[recording.count - 1].op;
			seq += rng_below(&r, 1000);
		}
		if (recording.count != length)
			continue;
		recording_end(&records, &recording, round & 1);
		if (records.records == before)
			continue;
		got = record_read(&records, records.records);
		assert_int_equal(got.count, length);
		assert_int_equal(got.begin, first);
		assert_int_equal(got.cut_off, round & 1);
		if (length)
			assert_memory_equal(got.item, want, length * sizeof *want);
	}
	assert_true(records.records > ROUNDS / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_equal_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_accesses_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(test_loops, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long_loop, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cut_off, setup, teardown),
		cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
