// SPDX-License-Identifier: MIT
// A hash table with chains and a lock for every stripe of buckets. Half of the operations look a key up; the others add
// one to its count or take one away, and an entry whose count becomes 0 is freed. Counts commute, so the table's final
// content is the same in every order. Much real sharing, many short critical sections, memory that gets a new life.
#include "program.h"

enum { STRIPES = 64, BUCKETS = 1 << 12, KEYS = 1 << 14 };

struct entry {
	struct entry *next;
	uint32_t key;
	int32_t count;
};

static struct arguments args;
static struct entry *buckets[BUCKETS];
static pthread_mutex_t stripes[STRIPES];

static struct entry **find(uint32_t key)
{
	struct entry **e = &buckets[mix(key) % BUCKETS];

	while (*e && (*e)->key != key)
		e = &(*e)->next;
	return e;
}

static pthread_mutex_t *stripe(uint32_t key)
{
	return &stripes[mix(key) % BUCKETS % STRIPES];
}

static int32_t lookup(uint32_t key)
{
	int32_t count = 0;

	pthread_mutex_lock(stripe(key));
	struct entry *e = *find(key);
	if (e)
		count = e->count;
	pthread_mutex_unlock(stripe(key));
	return count;
}

static void insert(struct entry **place, uint32_t key)
{
	struct entry *e = allocate(1, sizeof(*e));

	e->key = key;
	e->next = *place;
	*place = e;
}

static void add(uint32_t key, int32_t delta)
{
	pthread_mutex_lock(stripe(key));
	struct entry **place = find(key);
	if (!*place)
		insert(place, key);
	struct entry *e = *place;
	e->count += delta;
	if (!e->count) {
		*place = e->next;
		free(e);
	}
	pthread_mutex_unlock(stripe(key));
}

static void *worker(void *number)
{
	uint64_t state = (uint64_t)(intptr_t)number + 1, busy = 0;

	for (long i = 0; i < args.size; i++) {
		uint32_t key = draw(&state, KEYS), what = draw(&state, 4);
		if (what < 2)
			busy += (uint64_t)(lookup(key) > 1000000);
		else
			add(key, what == 2 ? 1 : -1);
	}
	return (void *)(uintptr_t)busy;
}

int main(int argc, char **argv)
{
	uint64_t sum = 0;

	args = arguments(argc, argv, 3000000);
	for (int i = 0; i < STRIPES; i++)
		pthread_mutex_init(&stripes[i], NULL);
	run_threads(args.threads, worker);
	for (int i = 0; i < BUCKETS; i++)
		for (struct entry *e = buckets[i], *next; e; e = next) {
			sum += mix((uint64_t)e->key << 32 ^ (uint32_t)e->count);
			next = e->next;
			free(e);
		}
	print_checksum("hashtable", sum);
	return 0;
}
