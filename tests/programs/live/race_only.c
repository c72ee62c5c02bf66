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
	in_two_threads(alice, bob);
	printf("%d\n", hits > 0);
	return 0;
}
