/* SPDX-License-Identifier: MIT */
/* expect: violation block=split verdict=observed rank=2 enclosing=none */
/*
 * What one thread has written two others have read, the second of them without a word: so much is known of its place. A third
 * reader hears of the write all the same, and is behind it.
 */
#include <pthread.h>
#include <stdio.h>

#include "order.h"

enum { LONGS = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long x[LONGS], y, z;

static void fill(void)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < LONGS; i++)
		x[i] = z + i;
	y = z;
	pthread_mutex_unlock(&lock);
}

/* The first one is told: from then on there is nothing to be learned. */
static long sum(void)
{
	long s;

	pthread_mutex_lock(&lock);
	s = y;
	for (int i = 0; i < LONGS; i++)
		s += x[i];
	pthread_mutex_unlock(&lock);
	return s;
}

static void split(void)
{
	long s;

	pthread_mutex_lock(&lock);
	z = 1;
	pthread_mutex_unlock(&lock);
	turn_over(); /* 1 */
	turn(4);
	pthread_mutex_lock(&lock);
	s = x[40];
	pthread_mutex_unlock(&lock);
	printf("%ld\n", s);
}

static void *writer(void *p)
{
	turn(1);
	fill();
	turn_over(); /* 2 */
	return p;
}

static void *reader(void *n)
{
	turn(*(int *)n);
	sum();
	turn_over(); /* 3, 4 */
	return n;
}

static void *third(void *p)
{
	split();
	return p;
}

int main(void)
{
	void *(*const routine[])(void *) = {writer, reader, reader, third};
	int turns[] = {1, 2, 3, 0};
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, routine[i], &turns[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}
