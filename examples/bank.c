/* SPDX-License-Identifier: MIT */
/*
 * A bank account. Every access is under the same lock, so there is no data race; withdraw() is wrong all the same:
 * between its check and its update another customer fits in.
 *
 *   fission-cc -pthread bank.c -o bank && fission run ./bank
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long balance = 1000;

static long get_balance(void)
{
	pthread_mutex_lock(&lock);
	long now = balance;
	pthread_mutex_unlock(&lock);
	return now;
}

static void set_balance(long to)
{
	pthread_mutex_lock(&lock);
	balance = to;
	pthread_mutex_unlock(&lock);
}

static void deposit(long amount)
{
	pthread_mutex_lock(&lock);
	balance += amount;
	pthread_mutex_unlock(&lock);
}

static void withdraw(long amount)
{
	long now = get_balance();

	if (now >= amount)
		set_balance(now - amount);
}

static void *customer(void *name)
{
	(void)name;
	deposit(20);
	withdraw(50);
	return NULL;
}

int main(void)
{
	pthread_t alice, bob;

	pthread_create(&alice, NULL, customer, "alice");
	pthread_create(&bob, NULL, customer, "bob");
	pthread_join(alice, NULL);
	pthread_join(bob, NULL);
	printf("balance: %ld\n", balance);
	return 0;
}
