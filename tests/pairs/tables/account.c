// SPDX-License-Identifier: MIT
// One object, and two: what locks once is atomic, what locks twice is not, and what is done to two objects without both
// locks is split by whoever sees one of them. Two transfers that cross each other wait for each other.
//
// status: 66
// matrix:
//   deposit  ....
//   withdraw ###.
//   transfer ..D.
//   compare  ..#.
#include <fission/pairs.h>
#include <stdlib.h>

struct account {
	pthread_mutex_t lock;
	long balance;
};

static void *make(void)
{
	struct account *a = malloc(sizeof *a);

	pthread_mutex_init(&a->lock, NULL);
	a->balance = 100;
	return a;
}

static void drop(void *a)
{
	free(a);
}

static long look(struct account *a)
{
	pthread_mutex_lock(&a->lock);
	long now = a->balance;
	pthread_mutex_unlock(&a->lock);
	return now;
}

static void store(struct account *a, long now)
{
	pthread_mutex_lock(&a->lock);
	a->balance = now;
	pthread_mutex_unlock(&a->lock);
}

static void deposit(void *of, void *other, const void *argument)
{
	struct account *a = of;

	(void)other;
	pthread_mutex_lock(&a->lock);
	a->balance += *(const long *)argument;
	pthread_mutex_unlock(&a->lock);
}

static void withdraw(void *a, void *other, const void *argument)
{
	(void)other;
	store(a, look(a) - *(const long *)argument);
}

static void transfer(void *of, void *other, const void *argument)
{
	struct account *a = of, *b = other;
	long amount = *(const long *)argument;

	pthread_mutex_lock(&a->lock);
	pthread_mutex_lock(&b->lock);
	a->balance -= amount;
	b->balance += amount;
	pthread_mutex_unlock(&b->lock);
	pthread_mutex_unlock(&a->lock);
}

static void compare(void *a, void *other, const void *argument)
{
	(void)argument;
	if (look(a) + look(other) < 0)
		abort();
}

static const long five = 5, seven = 7;

static const struct fission_operation operations[] = {
	{"deposit", deposit, &five, 0}, {"withdraw", withdraw, &seven, 0},
	{"transfer", transfer, &five, FISSION_OTHER}, {"compare", compare, NULL, FISSION_OTHER}, {0},
};

FISSION_PAIRS("account", make, drop, operations)
