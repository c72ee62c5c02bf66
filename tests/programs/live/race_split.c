/* SPDX-License-Identifier: MIT */
/* expect: race */
/* Read and write without a lock, and a write in between: it races, so a recording does not know the order. */
#include <pthread.h>
#include <stdio.h>

#include "order.h"

static long hits;

static void bump(void)
{
	long n = hits;

	turn_over();
	turn(2);
	hits = n + 1;
}

static void *alice(void *p)
{
	bump();
	return p;
}

static void *bob(void *p)
{
	turn(1);
	hits = 5;
	turn_over();
	return p;
}

int main(void)
{
	in_two_threads(alice, bob);
	printf("%ld\n", hits);
	return 0;
}
