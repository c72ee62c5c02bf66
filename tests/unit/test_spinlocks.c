/* SPDX-License-Identifier: MIT */
/* What is recognised as a lock made of atomics, and what is handed on, by short histories of a word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "collect/spinlocks.h"
#include "runtime/channel.h"

enum { THREADS = 4 };

static struct arena arena;
static struct spinlocks spinlocks;
static struct spin_attempt attempt[THREADS];
static char out[1024];

/* "1S " for thread 1's store, "1+ " and "1- " for its acquire and release. */
static void say(thread_id thread, char what)
{
	size_t n = strlen(out);

	snprintf(out + n, sizeof out - n, "%s%u%c", n ? " " : "", thread, what);
}

static void atomic(void *self, const struct spin_operation *o)
{
	(void)self;
	say(o->event.thread, o->event.kind == EVENT_ATOMIC_LOAD ? 'L' : o->event.kind == EVENT_ATOMIC_STORE ? 'S' : 'X');
}

static void lock(void *self, const struct spin_operation *o, thread_id thread, uint8_t kind)
{
	(void)self;
	assert_int_equal(o->address, 0x1000);
	say(thread, kind == EVENT_ACQUIRE ? '+' : '-');
}

static const struct spin_operation shapes[128] = {
	['x'] = {.event = {.kind = EVENT_ATOMIC_RMW, .order = ORDER_SEQ_CST}, .flags = ATOMIC_SWAPS | ATOMIC_FROM_ZERO},
	['y'] = {.event = {.kind = EVENT_ATOMIC_RMW, .order = ORDER_RELAXED}, .flags = ATOMIC_SWAPS | ATOMIC_FROM_ZERO},
	['f'] = {.event = {.kind = EVENT_ATOMIC_RMW, .order = ORDER_SEQ_CST}, .flags = ATOMIC_SWAPS | ATOMIC_SAME},
	['c'] = {.event = {.kind = EVENT_ATOMIC_RMW, .order = ORDER_SEQ_CST}, .flags = ATOMIC_SWAPS},
	['a'] = {.event = {.kind = EVENT_ATOMIC_RMW, .order = ORDER_SEQ_CST}, .flags = ATOMIC_FROM_ZERO},
	['s'] = {.event = {.kind = EVENT_ATOMIC_STORE, .order = ORDER_RELEASE}, .flags = ATOMIC_TO_ZERO},
	['r'] = {.event = {.kind = EVENT_ATOMIC_STORE, .order = ORDER_RELAXED}, .flags = ATOMIC_TO_ZERO},
	['e'] = {.event = {.kind = EVENT_ATOMIC_RMW, .order = ORDER_RELEASE}, .flags = ATOMIC_SWAPS | ATOMIC_TO_ZERO},
	['l'] = {.event = {.kind = EVENT_ATOMIC_LOAD, .order = ORDER_ACQUIRE}, .flags = ATOMIC_SAME},
	['z'] = {.event = {.kind = EVENT_ATOMIC_LOAD, .order = ORDER_ACQUIRE},
		.flags = ATOMIC_SAME | ATOMIC_FROM_ZERO | ATOMIC_TO_ZERO},
};

/* Each step a thread and a letter: a shape above, or 'g' when it goes on to something else. */
static void history(const char *steps, const char *expected)
{
	arena_init(&arena);
	memset(attempt, 0, sizeof attempt);
	out[0] = 0;
	spinlocks_init(&spinlocks, &arena, (struct spin_listener){NULL, atomic, lock});
	for (; *steps; steps += steps[2] ? 3 : 2) {
		thread_id t = (thread_id)(steps[0] - '0');
		struct spin_operation o = shapes[(unsigned char)steps[1]];

		o.event.thread = t;
		o.event.object = o.address = 0x1000;
		if (steps[1] == 'g')
			spinlocks_go_on(&spinlocks, &attempt[t]);
		else
			spinlocks_take(&spinlocks, &attempt[t], &o);
	}
	assert_string_equal(out, expected);
	arena_free(&arena);
}

static void test_locks(void **state)
{
	(void)state;
	history("1s 1x 1s 2x 2s", "1S 1X 1+ 1- 1S 2X 2+ 2- 2S");
	history("1x 1e 2x 2e", "1X 1+ 1- 1X 2X 2+ 2- 2X");
	history("1x 1l 1s", "1X 1L 1+ 1- 1S");
}

static void test_waiting_is_left_out(void **state)
{
	(void)state;
	history("1x 2f 2f 2l 1s 2z 2x 2s", "1X 1+ 1- 1S 2X 2+ 2- 2S");
	history("1x 1s 1x 2f 3f 1s 3x 3s 2x 2s", "1X 1+ 1- 1S 1X 1+ 1- 1S 3X 3+ 3- 3S 2X 2+ 2- 2S");
}

static void test_who_goes_on_has_looked(void **state)
{
	(void)state;
	history("1x 2l 2g 1s", "1X 2L 1+ 1- 1S");
	history("1x 2f 2g 1s", "1X 2X 1+ 1- 1S");
	history("1x 2l 1s 2g 2x 2s", "1X 1+ 1- 1S 2X 2+ 2- 2S");
	history("1x 1s 2z 2g 2x 2s", "1X 1+ 1- 1S 2L 2X 2S");
}

static void test_what_is_no_lock(void **state)
{
	(void)state;
	history("1y 1s 1y 1s", "1X 1S 1X 1S");          /* no acquire */
	history("1x 1r 1x 1r", "1X 1S 1X 1S");          /* no release */
	history("1a 1s 1a 1s", "1X 1S 1X 1S");          /* an addition */
	history("1x 2s 1x 1s", "1X 2S 1X 1S");          /* given by another */
	history("1x 2l 2c 1s", "1X 2L 2X 1S");          /* changed by another, who had looked before */
	history("1x 1s 1x 2s 1x", "1X 1+ 1- 1S 1X 1+ 1- 2S 1X"); /* so far it was one: its period ends */
	history("1x 1s 1s 1x 1s", "1X 1+ 1- 1S 1S 1X 1S");       /* given twice */
	history("1x 1x 1s", "1X 1X 1S");                /* found free while it is held */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_waiting_is_left_out),
		cmocka_unit_test(test_who_goes_on_has_looked),
		cmocka_unit_test(test_what_is_no_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
