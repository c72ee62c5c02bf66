/* SPDX-License-Identifier: MIT */
/* expect: violation block=withdraw variable=balance verdict=observed rank=1 enclosing=none */
/*
 * A function that its first lock brings along: memory that it is given under the lock does not end it. From the second
 * time on; the culprit comes in between the last time.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "account.h"
#include "order.h"

static void withdraw(long amount, int turns)
{
	char *volatile slip;
	long now;

	pthread_mutex_lock(&lock);
	now = balance;
	slip = malloc(16);
	pthread_mutex_unlock(&lock);
	free(slip);
	if (turns) {
		turn_over();
		turn(2);
	}
	pthread_mutex_lock(&lock);
	balance = now - amount;
	pthread_mutex_unlock(&lock);
}

static void *alice(void *p)
{
	for (int i = 0; i < 3; i++)
		withdraw(1, 0);
	withdraw(30, 1);
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
	in_two_threads(alice, bob);
	printf("%ld %ld\n", balance, get());
	return 0;
}
