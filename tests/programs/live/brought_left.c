/* SPDX-License-Identifier: MIT */
/* expect: violation block=withdraw variable=balance verdict=observed rank=1 enclosing=none first=withdraw,alice second=withdraw,alice */
/*
 * A function that its lock brings along, and that is over before the access under the lock: that is its caller's. No exit
 * is told of it.
 */
#include <pthread.h>
#include <stdio.h>

#include "account.h"
#include "order.h"

static void take(void)
{
	pthread_mutex_lock(&lock);
}

static void withdraw(long amount, int turns)
{
	long now;

	take();
	now = balance;
	pthread_mutex_unlock(&lock);
	if (turns) {
		turn_over(); /* 2 */
		turn(3);
	}
	take();
	balance = now - amount;
	pthread_mutex_unlock(&lock);
}

static void *alice(void *p)
{
	turn(1);
	for (int i = 0; i < 4; i++)
		withdraw(i, i == 3);
	return p;
}

static void *bob(void *p)
{
	set(100);
	turn_over(); /* 1 */
	turn(2);
	set(70);
	turn_over(); /* 3 */
	return p;
}

int main(void)
{
	in_two_threads(alice, bob);
	printf("%ld %ld\n", balance, get());
	return 0;
}
