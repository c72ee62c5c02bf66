/* SPDX-License-Identifier: MIT */
/* expect: violation block=settle variable=paid verdict=observed rank=1 declared=yes */
/* A block that was declared, in a function that would not be reported: the sections are the loop's. */
#include <pthread.h>
#include <stdio.h>

#include <fission.h>

#include "order.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int paid;

static void add(int n)
{
	pthread_mutex_lock(&lock);
	paid += n;
	pthread_mutex_unlock(&lock);
}

static void *alice(void *p)
{
	FISSION_ATOMIC_BEGIN("settle");
	add(1);
	turn_over();
	turn(2);
	add(1);
	FISSION_ATOMIC_END("settle");
	return p;
}

static void *bob(void *p)
{
	turn(1);
	add(2);
	turn_over();
	return p;
}

int main(void)
{
	in_two_threads(alice, bob);
	printf("%d\n", paid);
	return 0;
}
