// SPDX-License-Identifier: MIT
// EXPECT kind=before rank=1 variable=table.1
// Which lock and which bucket depends on a number.
#include "two.h"

enum { BUCKETS = 8 };

static struct bucket {
	pthread_mutex_t lock;
	int used;
} table[BUCKETS];

static void insert(unsigned key)
{
	struct bucket *b = &table[key * 7 % BUCKETS];
	int used;

	pthread_mutex_lock(&b->lock);
	used = b->used;
	pthread_mutex_unlock(&b->lock);
	if (used > 3) { // COLD
		pthread_mutex_lock(&b->lock);
		b->used = used - 3;
		pthread_mutex_unlock(&b->lock);
	}
}

static void reset(unsigned key)
{
	struct bucket *b = &table[key * 7 % BUCKETS];

	pthread_mutex_lock(&b->lock);
	b->used = 1;
	pthread_mutex_unlock(&b->lock);
}

static void *one(void *none)
{
	insert(5);
	return none;
}

static void *two(void *none)
{
	reset(5);
	return none;
}

int main(void)
{
	for (int i = 0; i < BUCKETS; i++)
		pthread_mutex_init(&table[i].lock, NULL);
	run_two(one, two);
	return 0;
}
