/* SPDX-License-Identifier: MIT */
/*
 * Three blocks that are not atomic: over a global variable, over a field on the heap with a lock beside it, and over an
 * element of an array. ids.py moves this code about, builds it in several ways and runs it: the ids must stay.
 *
 * ids.py puts lines in place of these words. MOVE
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct account {
	pthread_mutex_t lock;
	long owner, balance;
};

/* MOVE */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total = 1000, slot[4];
static struct account *account;

static long get_total(void)
{
	long n;

	pthread_mutex_lock(&lock);
	n = total;
	pthread_mutex_unlock(&lock);
	return n;
}

/* MOVE */
static void set_total(long n)
{
	pthread_mutex_lock(&lock);
	/* MOVE */
	total = n;
	pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static void raise_total(long by)
{
	long n = get_total();

	/* MOVE */
	set_total(n + by);
}

__attribute__((noinline)) static void pay(struct account *a, long amount)
{
	long n;

	pthread_mutex_lock(&a->lock);
	n = a->balance;
	pthread_mutex_unlock(&a->lock);
	/* MOVE */
	pthread_mutex_lock(&a->lock);
	a->balance = n - amount;
	pthread_mutex_unlock(&a->lock);
}

__attribute__((noinline)) static void swap_slots(int i)
{
	long n;

	pthread_mutex_lock(&lock);
	n = slot[i];
	pthread_mutex_unlock(&lock);
	/* MOVE */
	pthread_mutex_lock(&lock);
	slot[i] = n + 1;
	pthread_mutex_unlock(&lock);
}

static void *first(void *unused)
{
	(void)unused;
	raise_total(1);
	pay(account, 2);
	swap_slots(2);
	return NULL;
}

/* MOVE */
static void *second(void *unused)
{
	(void)unused;
	swap_slots(2);
	pay(account, 3);
	raise_total(4);
	return NULL;
}

int main(int argc, char **argv)
{
	void *(*const routines[])(void *) = {first, second, first};
	int reverse = argc > 1 && atoi(argv[1]);
	pthread_t threads[3];

	account = calloc(1, sizeof *account);
	pthread_mutex_init(&account->lock, NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, routines[reverse ? 2 - i : i], NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	free(account);
	return (void)argv, 0;
}
