/* SPDX-License-Identifier: MIT */
/* expect: violation block=step variable=balance verdict=observed rank=1 enclosing=none */
/*
 * What a function does before its first lock, which brings it along, is its own; also before it calls another one, at a
 * later time. It is called with a lock that it gives back and takes again.
 */
#include <pthread.h>
#include <stdio.h>

#include "account.h"
#include "order.h"

static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;

/* Known for locking. */
static void look(pthread_mutex_t *m)
{
	if (!m)
		return;
	pthread_mutex_lock(m);
	pthread_mutex_unlock(m);
}

static void step(long amount, int turns)
{
	long now = balance;

	look(NULL);
	pthread_mutex_lock(&other);
	pthread_mutex_unlock(&lock);
	if (turns) {
		turn_over();
		turn(2);
	}
	pthread_mutex_unlock(&other);
	pthread_mutex_lock(&lock);
	balance = now - amount;
}

static void *alice(void *p)
{
	look(&other);
	for (int i = 0; i < 4; i++) {
		pthread_mutex_lock(&lock);
		step(i, i == 3);
		pthread_mutex_unlock(&lock);
	}
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
