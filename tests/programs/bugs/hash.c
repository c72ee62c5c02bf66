/* SPDX-License-Identifier: MIT */
/*
 * Hash table with resize. table_insert() computes the slot of a key by the mask of now, and stores the key there in a second
 * section; the table may have grown in between, and the key stands where nobody looks. Visible: a key that was
 * inserted is not found, exit status 1.
 */
// EXPECT function=table_insert variable=table.mask live=default,blocks
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { LARGEST = 8 };

static struct {
	pthread_mutex_t lock;
	unsigned mask;
	unsigned slot[LARGEST]; /* 0: free; no two keys of this test collide */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER, .mask = 3};

static unsigned slot_locked(unsigned key)
{
	return key & table.mask;
}

#ifdef FIXED
static void table_insert(unsigned key)
{
	pthread_mutex_lock(&table.lock);
	table.slot[slot_locked(key)] = key;
	pthread_mutex_unlock(&table.lock);
}
#else
static unsigned table_slot(unsigned key)
{
	pthread_mutex_lock(&table.lock);
	unsigned i = slot_locked(key);
	pthread_mutex_unlock(&table.lock);
	return i;
}

static void table_put(unsigned i, unsigned key)
{
	pthread_mutex_lock(&table.lock);
	if (i <= table.mask)
		table.slot[i] = key;
	pthread_mutex_unlock(&table.lock);
}

static void table_insert(unsigned key)
{
	table_put(table_slot(key), key);
}
#endif

static void table_grow(void)
{
	pthread_mutex_lock(&table.lock);
	unsigned old = table.mask;
	table.mask = 2 * old + 1;
	for (unsigned i = 0; i <= old; i++) {
		unsigned key = table.slot[i];
		table.slot[i] = 0;
		if (key)
			table.slot[slot_locked(key)] = key;
	}
	pthread_mutex_unlock(&table.lock);
}

static bool table_has(unsigned key)
{
	pthread_mutex_lock(&table.lock);
	bool has = table.slot[slot_locked(key)] == key;
	pthread_mutex_unlock(&table.lock);
	return has;
}

static void *inserter(void *arg)
{
	(void)arg;
	table_insert(6);
	return NULL;
}

static void *grower(void *arg)
{
	(void)arg;
	table_grow();
	return NULL;
}

int main(void)
{
	pthread_t i, g;

	pthread_create(&i, NULL, inserter, NULL);
	pthread_create(&g, NULL, grower, NULL);
	pthread_join(i, NULL);
	pthread_join(g, NULL);
	bool has = table_has(6);
	printf("key 6 is %s\n", has ? "there" : "lost");
	return !has;
}
