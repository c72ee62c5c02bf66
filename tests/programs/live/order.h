/* SPDX-License-Identifier: MIT */
/*
 * The order of a test program's threads: turn(n) waits until n turns are over, turn_over() ends one. Neither is
 * instrumented nor synchronises anything that Fission knows of, so the order is the schedule's and not the program's.
 */
#ifndef ORDER_H
#define ORDER_H

#include <pthread.h>
#include <sched.h>

#define UNSEEN __attribute__((noinline, no_sanitize("thread"), unused))
#ifdef __clang__
#define UNSEEN_MORE __attribute__((disable_sanitizer_instrumentation))
#else
#define UNSEEN_MORE
#endif

static volatile int order_turns;

UNSEEN UNSEEN_MORE static void turn(int n)
{
	while (order_turns < n)
		sched_yield();
	__asm__ volatile("mfence" ::: "memory");
}

UNSEEN UNSEEN_MORE static void turn_over(void)
{
	__asm__ volatile("mfence" ::: "memory");
	order_turns = order_turns + 1;
}

/* Both at once, until both have ended. */
__attribute__((unused)) static void in_two_threads(void *(*alice)(void *), void *(*bob)(void *))
{
	pthread_t a, b;

	pthread_create(&a, NULL, alice, NULL);
	pthread_create(&b, NULL, bob, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

#endif
