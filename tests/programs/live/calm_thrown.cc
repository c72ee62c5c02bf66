/* SPDX-License-Identifier: MIT */
/* expect: none-shown */
/* Exceptions through functions whose hooks are gone, and through those that have got them back. */
#include <cstdio>
#include <pthread.h>

#include "order.h"

enum { CALLS = 5000, ROUNDS = 4 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, warm = PTHREAD_MUTEX_INITIALIZER;
static int sum;

struct counted {
	~counted() { sum++; }
};

static __attribute__((noinline)) void section(pthread_mutex_t *o)
{
	pthread_mutex_lock(o);
	pthread_mutex_unlock(o);
}

static __attribute__((noinline)) void throws(pthread_mutex_t *o, int n)
{
	counted c;

	if (o)
		section(o);
	if (o == &m) {
		turn_over();
		turn(2);
	}
	if (o)
		section(o);
	if (n % 2)
		throw n;
}

static __attribute__((noinline)) void passes(pthread_mutex_t *o, int n)
{
	counted c;

	throws(o, n);
}

static __attribute__((noinline)) int catches(pthread_mutex_t *o, int n)
{
	try {
		passes(o, n);
	} catch (int thrown) {
		return thrown;
	}
	return 0;
}

static void *alice(void *p)
{
	for (int i = 0; i < CALLS; i++)
		sum += catches(nullptr, i);
	for (int i = 0; i < ROUNDS; i++)
		sum += catches(&warm, i);
	section(&m);
	sum += catches(&m, 1);
	section(&m);
	return p;
}

static void *bob(void *p)
{
	turn(1);
	section(&m);
	turn_over();
	return p;
}

int main()
{
	in_two_threads(alice, bob);
	printf("%d\n", sum);
}
