/* SPDX-License-Identifier: MIT */
/*
 * What the programs here have in common: a lock, and another thread that takes it when it is asked to. Each program does
 * something hazardous around its own sections, and says what came of it.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PART __attribute__((noinline, unused))
#define KEEP __asm__ volatile("" ::: "memory")

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long value;

/* Two sections of their own. */
static PART long get(void)
{
	long v;

	pthread_mutex_lock(&lock);
	v = value;
	pthread_mutex_unlock(&lock);
	KEEP;
	return v;
}

static PART void put(long v)
{
	pthread_mutex_lock(&lock);
	value = v;
	pthread_mutex_unlock(&lock);
	KEEP;
}

/* Called for without synchronisation: what it does is in no order with anybody. */
static int asked, done, over;

static void *intruder(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		int now = __atomic_load_n(&asked, __ATOMIC_RELAXED);

		if (now != done) {
			pthread_mutex_lock(&lock);
			value += 100;
			pthread_mutex_unlock(&lock);
			__atomic_store_n(&done, now, __ATOMIC_RELAXED);
		}
		sched_yield();
	}
	return NULL;
}

/* It comes in, now. */
static PART void intrude(void)
{
	int now = __atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED);

	while (__atomic_load_n(&done, __ATOMIC_RELAXED) != now)
		sched_yield();
}

static pthread_t intruding;

static void finish(void)
{
	__atomic_store_n(&over, 1, __ATOMIC_RELAXED);
	pthread_join(intruding, NULL);
}

static PART void begin(void)
{
	if (pthread_create(&intruding, NULL, intruder, NULL) != 0)
		exit(9);
	atexit(finish);
}
