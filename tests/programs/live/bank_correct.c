/* SPDX-License-Identifier: MIT */
/* expect: none */
/* One section from the check to the update. */
#include <pthread.h>
#include <stdio.h>

#include "order.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long balance = 100;

static void withdraw(long amount)
{
	pthread_mutex_lock(&lock);
	if (balance >= amount)
		balance -= amount;
	pthread_mutex_unlock(&lock);
}

static void *alice(void *p)
{
	withdraw(30);
	turn_over();
	turn(2);
	withdraw(10);
	return p;
}

static void *bob(void *p)
{
	turn(1);
	withdraw(20);
	turn_over();
	return p;
}

int main(void)
{
	in_two_threads(alice, bob);
	printf("%ld\n", balance);
	return 0;
}
