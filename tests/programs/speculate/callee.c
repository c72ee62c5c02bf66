// SPDX-License-Identifier: MIT
// EXPECT kind=before rank=1 variable=account.1
// Through callees: the object by arguments, the lock in it, the value by a result.
#include "two.h"

struct account {
	pthread_mutex_t lock;
	int balance;
};

static struct account *shared;

static void lock_account(struct account *a)
{
	pthread_mutex_lock(&a->lock);
}

static void unlock_account(struct account *a)
{
	pthread_mutex_unlock(&a->lock);
}

static int get(struct account *a)
{
	int value;

	lock_account(a);
	value = a->balance;
	unlock_account(a);
	return value;
}

static void put(struct account *a, int value)
{
	lock_account(a);
	a->balance = value;
	unlock_account(a);
}

static void pay(struct account *a, int value)
{
	put(a, value);
}

static void *alice(void *none)
{
	int seen = get(shared);

	if (seen > 100) // COLD
		pay(shared, seen - 100);
	return none;
}

static void *bob(void *none)
{
	put(shared, 50);
	return none;
}

int main(void)
{
	shared = calloc(1, sizeof *shared);
	pthread_mutex_init(&shared->lock, NULL);
	run_two(alice, bob);
	return 0;
}
