/* SPDX-License-Identifier: MIT */
/* expect: violation block=withdraw variable=balance verdict=observed rank=1 enclosing=none */
/* The culprit comes in between. */
#include <pthread.h>
#include <stdio.h>

#include "order.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long balance = 100;

static long get(void)
{
	pthread_mutex_lock(&lock);
	long now = balance;
	pthread_mutex_unlock(&lock);
	return now;
}

static void set(long to)
{
	pthread_mutex_lock(&lock);
	balance = to;
	pthread_mutex_unlock(&lock);
}

static void withdraw(long amount)
{
	long now = get();

	turn_over();
	turn(2);
	set(now - amount);
}

static void *alice(void *p)
{
	withdraw(30);
	return p;
}

static void *bob(void *p)
{
	turn(1);
	set(70);
	turn_over();
	return p;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, alice, NULL);
	pthread_create(&b, NULL, bob, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%ld\n", balance);
	return 0;
}
