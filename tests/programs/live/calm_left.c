/* SPDX-License-Identifier: MIT */
/* expect: violation block=withdraw variable=balance rank=1 verdict=observed */
/*
 * Alice waits in two functions while Bob calls them so often that they lose their hooks, exits and all. She leaves them, and
 * then the inner one locks, and gets its hooks back. Neither must be taken for open: the block is withdraw.
 */
#include <stdio.h>

#include "order.h"

enum { CALLS = 5000, RETURN, WAIT, LOCK };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static long balance = 100;

static __attribute__((noinline)) int inner(int what)
{
	if (what == WAIT) {
		turn_over();
		turn(2);
	}
	if (what == LOCK) {
		pthread_mutex_lock(&other);
		pthread_mutex_unlock(&other);
	}
	return what;
}

static __attribute__((noinline)) int outer(int what)
{
	return what == WAIT ? inner(what) + 1 : what;
}

/* It calls nothing that would clear away what was left. */
static __attribute__((noinline)) void withdraw(long amount)
{
	long now;

	outer(WAIT);
	turn_over();
	turn(4);
	pthread_mutex_lock(&lock);
	now = balance;
	pthread_mutex_unlock(&lock);
	turn_over();
	turn(6);
	pthread_mutex_lock(&lock);
	balance = now - amount;
	pthread_mutex_unlock(&lock);
}

static __attribute__((noinline)) void deposit(long amount)
{
	pthread_mutex_lock(&lock);
	balance += amount;
	pthread_mutex_unlock(&lock);
}

static void *alice(void *p)
{
	withdraw(10);
	return p;
}

static void *bob(void *p)
{
	turn(1);
	for (int i = 0; i < CALLS; i++) {
		outer(RETURN);
		inner(RETURN);
	}
	turn_over();
	turn(3);
	inner(LOCK);
	turn_over();
	turn(5);
	deposit(50);
	turn_over();
	return p;
}

int main(void)
{
	in_two_threads(alice, bob);
	printf("%ld\n", balance);
	return 0;
}
