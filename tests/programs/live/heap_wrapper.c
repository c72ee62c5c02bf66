/* SPDX-License-Identifier: MIT */
/* expect: violation block=withdraw variable=bank.slots[].balance verdict=observed rank=1 enclosing=none */
/* The accounts come from a wrapper of the allocator: the name is that of the member which gets them from it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "order.h"

struct account {
	int id;
	pthread_mutex_t lock;
	long balance;
};

static struct {
	size_t count;
	struct account *slots;
} bank;

static void *get_memory(size_t bytes)
{
	void *p = calloc(1, bytes);

	if (!p)
		abort();
	return p;
}

static long balance_of(struct account *a)
{
	pthread_mutex_lock(&a->lock);
	long balance = a->balance;
	pthread_mutex_unlock(&a->lock);
	return balance;
}

static void set_balance(struct account *a, long balance)
{
	pthread_mutex_lock(&a->lock);
	a->balance = balance;
	pthread_mutex_unlock(&a->lock);
}

static void withdraw(struct account *a, long sum)
{
	long balance = balance_of(a);

	turn_over();
	turn(2);
	set_balance(a, balance - sum);
}

static void *alice(void *unused)
{
	withdraw(&bank.slots[1], 30);
	return unused;
}

static void *bob(void *unused)
{
	turn(1);
	set_balance(&bank.slots[1], 20);
	turn_over();
	return unused;
}

int main(void)
{
	pthread_t a, b;

	bank.count = 3;
	bank.slots = get_memory(bank.count * sizeof *bank.slots);
	for (size_t i = 0; i < bank.count; i++)
		pthread_mutex_init(&bank.slots[i].lock, NULL);
	bank.slots[1].balance = 100;
	pthread_create(&a, NULL, alice, NULL);
	pthread_create(&b, NULL, bob, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%ld\n", bank.slots[1].balance);
	free(bank.slots);
	return 0;
}
