/* SPDX-License-Identifier: MIT */
/* expect: violation block=withdraw variable=balance[] verdict=observed rank=1 enclosing=none */
/* Elements of an array, of which one has a name of several digits: findings are about all of them. */
#include <pthread.h>
#include <stdio.h>

#include "order.h"

enum { ACCOUNTS = 200, FIRST = 40, SECOND = 142 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long balance[ACCOUNTS];

static long get(int account)
{
	pthread_mutex_lock(&lock);
	long now = balance[account];
	pthread_mutex_unlock(&lock);
	return now;
}

static void set(int account, long to)
{
	pthread_mutex_lock(&lock);
	balance[account] = to;
	pthread_mutex_unlock(&lock);
}

static void withdraw(int account, long amount, int from)
{
	long now = get(account);

	turn_over();
	turn(from + 2);
	set(account, now - amount);
}

static void *alice(void *p)
{
	withdraw(FIRST, 30, 0);
	withdraw(SECOND, 30, 2);
	return p;
}

static void *bob(void *p)
{
	turn(1);
	set(FIRST, 70);
	turn_over();
	turn(3);
	set(SECOND, 70);
	turn_over();
	return p;
}

int main(void)
{
	in_two_threads(alice, bob);
	printf("%ld %ld\n", balance[FIRST], balance[SECOND]);
	return 0;
}
