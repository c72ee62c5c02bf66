/* SPDX-License-Identifier: MIT */
/* expect: race */
/* No lock at all: a data race, and no verdict that rests on the order of racing accesses. */
#include <pthread.h>
#include <stdio.h>

#include "order.h"

static long hits;

static void *alice(void *p)
{
	hits = 1;
	turn_over();
	return p;
}

static void *bob(void *p)
{
	turn(1);
	hits = 2;
	return p;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, alice, NULL);
	pthread_create(&b, NULL, bob, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", hits > 0);
	return 0;
}
