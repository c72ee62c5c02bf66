/* SPDX-License-Identifier: MIT */
/* expect: none-shown */
/* Take from a pool, work, put back: both sections only count up or down. It is split, and nobody minds. */
#include <pthread.h>
#include <stdio.h>

#include "order.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int spare = 4;

static void take(void)
{
	pthread_mutex_lock(&lock);
	spare--;
	pthread_mutex_unlock(&lock);
}

static void put(void)
{
	pthread_mutex_lock(&lock);
	spare++;
	pthread_mutex_unlock(&lock);
}

static void work(int slow)
{
	take();
	if (slow) {
		turn_over();
		turn(2);
	}
	put();
}

static void *alice(void *p)
{
	work(1);
	return p;
}

static void *bob(void *p)
{
	turn(1);
	work(0);
	turn_over();
	return p;
}

int main(void)
{
	in_two_threads(alice, bob);
	printf("%d\n", spare);
	return 0;
}
