/* SPDX-License-Identifier: MIT */
/* Two threads: one takes money in two sections, the other sets the balance in between, if it can. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static int balance = 20;

static int get(void)
{
	pthread_mutex_lock(&mu);
	int b = balance;
	pthread_mutex_unlock(&mu);
	return b;
}

static void set(int b)
{
	pthread_mutex_lock(&mu);
	balance = b;
	pthread_mutex_unlock(&mu);
}

static void withdraw(int amount)
{
	int b = get();

	if (amount <= b)
		set(b - amount);
}

static void *alice(void *p)
{
	withdraw(10);
	return p;
}

static void *bob(void *p)
{
	set(7);
	return p;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, alice, NULL);
	pthread_create(&b, NULL, bob, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", balance);
	return 0;
}
