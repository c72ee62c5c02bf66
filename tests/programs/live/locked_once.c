/* SPDX-License-Identifier: MIT */
/* expect: none-shown */
/*
 * Functions that lock once, twice, through others, one inside of another, with a notification, and in a loop: what is
 * told of them with locks only must be what a recording has. Bob comes before, in between and after.
 */
#include <pthread.h>
#include <stdio.h>

#include "order.h"

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int state;

static void once(pthread_mutex_t *m)
{
	pthread_mutex_lock(m);
	pthread_mutex_unlock(m);
}

static void twice(pthread_mutex_t *m)
{
	pthread_mutex_lock(m);
	pthread_mutex_unlock(m);
	turn_over();
	turn(4);
	pthread_mutex_lock(m);
	pthread_mutex_unlock(m);
}

static void through(pthread_mutex_t *m)
{
	once(m);
	once(m);
}

static void take(pthread_mutex_t *m)
{
	pthread_mutex_lock(m);
}

static void give(pthread_mutex_t *m)
{
	pthread_mutex_unlock(m);
}

static void apart(pthread_mutex_t *m)
{
	take(m);
	give(m);
	take(m);
	give(m);
}

static void both(void)
{
	pthread_mutex_lock(&a);
	pthread_mutex_lock(&b);
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
}

static void announce(void)
{
	pthread_mutex_lock(&b);
	state = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&b);
}

static void announce_twice(void)
{
	pthread_mutex_lock(&b);
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&b);
	turn_over();
	turn(8);
	pthread_mutex_lock(&b);
	pthread_mutex_unlock(&b);
}

static void await(void)
{
	pthread_mutex_lock(&b);
	while (!state)
		pthread_cond_wait(&changed, &b);
	pthread_mutex_unlock(&b);
}

static void *alice(void *p)
{
	turn(1);
	for (int i = 0; i < 3; i++)
		once(&a);
	turn_over(); /* 2 */
	twice(&a);   /* 3, and waits for 4 */
	through(&a);
	apart(&b);
	both();
	turn_over(); /* 5 */
	turn(6);
	announce_twice(); /* 7, and waits for 8 */
	announce();
	await();
	once(&a);
	return p;
}

static void *bob(void *p)
{
	once(&a);
	once(&b);
	turn_over(); /* 1 */
	turn(3);
	once(&a);
	turn_over(); /* 4 */
	turn(5);
	once(&a);
	through(&b);
	turn_over(); /* 6 */
	turn(7);
	once(&b);
	turn_over(); /* 8 */
	return p;
}

int main(void)
{
	in_two_threads(alice, bob);
	printf("%d\n", state);
	return 0;
}
