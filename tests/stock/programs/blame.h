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
static volatile int asked, done, over;

static void *intruder(void *unused)
{
	(void)unused;
	while (!over) {
		int now = asked;

		if (now != done) {
			pthread_mutex_lock(&lock);
			value += 100;
			pthread_mutex_unlock(&lock);
			done = now;
		}
		sched_yield();
	}
	return NULL;
}

/* It comes in, now. */
static PART void intrude(void)
{
	int now = asked + 1;

	asked = now;
	while (done != now)
		sched_yield();
}

static pthread_t intruding;

static void finish(void)
{
	over = 1;
	pthread_join(intruding, NULL);
}

static PART void begin(void)
{
	if (pthread_create(&intruding, NULL, intruder, NULL) != 0)
		exit(9);
	atexit(finish);
}
