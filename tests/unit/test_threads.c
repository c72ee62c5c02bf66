/* SPDX-License-Identifier: MIT */
/* The runtime's table of thread handles, and the numbers under it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/numbers.h"
#include "runtime/threads.h"

enum { MANY = 100000 };

static pthread_t handle(uintptr_t n)
{
	return (pthread_t)(0x7f0000000000 + n * 0x801000);
}

static void test_joined(void **state)
{
	(void)state;
	threads_add(handle(1), 5);
	threads_add(handle(1), 5);
	assert_int_equal(threads_find(handle(1)), 5);
	assert_int_equal(threads_find(handle(2)), 0);
	threads_joined(handle(1), 5);
	assert_int_equal(threads_find(handle(1)), 0);
}

/* The maker comes late: the thread was joined already, and the handle may be another's. */
static void test_late(void **state)
{
	(void)state;
	threads_add(handle(1), 6);
	threads_joined(handle(1), 6);
	threads_add(handle(1), 6);
	assert_int_equal(threads_find(handle(1)), 0);
	threads_add(handle(1), 7);
	threads_add(handle(1), 6);
	assert_int_equal(threads_find(handle(1)), 7);
}

/* Whoever has joined the old one comes when the handle is another's. */
static void test_reused(void **state)
{
	(void)state;
	threads_add(handle(1), 8);
	threads_add(handle(1), 9);
	threads_joined(handle(1), 8);
	assert_int_equal(threads_find(handle(1)), 9);
	threads_joined(handle(1), 9);
}

static void test_detached(void **state)
{
	(void)state;
	threads_add(pthread_self(), 10);
	threads_detached(pthread_self());
	assert_int_equal(threads_find(pthread_self()), 10);
	threads_ended();
	assert_int_equal(threads_find(pthread_self()), 0);

	threads_add(pthread_self(), 11);
	threads_ended();
	assert_int_equal(threads_find(pthread_self()), 11);
	threads_detached(pthread_self());
	assert_int_equal(threads_find(pthread_self()), 0);
}

/* What has gone takes no room for ever. */
static void test_room(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		threads_add(handle(i), 100 + i);
		threads_joined(handle(i), 100 + i);
	}
	assert_true(numbers_threads.capacity <= 1024);
	for (uint32_t i = 0; i < MANY; i++)
		threads_add(handle(i), 100 + MANY + i);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(threads_find(handle(i)), 100 + MANY + i);
}

static void test_count(void **state)
{
	struct numbers n = {0};
	int x = 0;

	(void)state;
	assert_int_equal(numbers_find(&n, &x), 0);
	assert_int_equal(numbers_count(&n, &x, 1), 1);
	assert_int_equal(numbers_count(&n, &x, 1), 2);
	assert_int_equal(numbers_count(&n, &x, -1), 1);
	assert_int_equal(numbers_count(&n, &x, -1), 0);
	assert_int_equal(numbers_find(&n, &x), 0);
	numbers_set(&n, &x, 3);
	assert_int_equal(numbers_find(&n, &x), 3);
	numbers_set(&n, &x, 0);
	assert_int_equal(numbers_find(&n, &x), 0);
}

/* A fork that caught another thread within the table must not leave it locked, nor half changed. */
static void test_forked(void **state)
{
	(void)state;
	threads_add(handle(3), 1000000);
	threads_forked();
	assert_int_equal(threads_find(handle(3)), 1000000);
	numbers_lock(&numbers_threads);
	threads_forked();
	assert_int_equal(threads_find(handle(3)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_joined),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_reused),
		cmocka_unit_test(test_detached),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_forked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
