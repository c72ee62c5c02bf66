/* SPDX-License-Identifier: MIT */
/* expect: none */
/* The same two sections, but fork and join keep everyone else out of them. */
#include <pthread.h>
#include <stdio.h>

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

	set(now - amount);
}

static void *customer(void *p)
{
	withdraw(30);
	return p;
}

int main(void)
{
	pthread_t t;

	for (int i = 0; i < 3; i++) {
		pthread_create(&t, NULL, customer, NULL);
		pthread_join(t, NULL);
		withdraw(1);
	}
	printf("%ld\n", balance);
	return 0;
}
