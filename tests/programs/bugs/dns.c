/* SPDX-License-Identifier: MIT */
/*
 * Read-write lock. dns_resolve() looks a name up under the shared side, lets go, and adds what was missing under the exclusive
 * side without a second look. Visible: a name stands in the table twice, exit status 1.
 */
// EXPECT function=dns_resolve variable=table.entries live=blocks
#include <pthread.h>
#include <stdio.h>

enum { NAMES = 16 };

static struct {
	pthread_rwlock_t lock;
	int entries;
	unsigned name[NAMES];
	unsigned address[NAMES];
} table = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static int find_locked(unsigned name)
{
	for (int i = 0; i < table.entries; i++)
		if (table.name[i] == name)
			return i;
	return -1;
}

static int add_locked(unsigned name)
{
	int i = table.entries;

	table.name[i] = name;
	table.address[i] = name * 2654435761u;
	table.entries = i + 1;
	return i;
}

static unsigned dns_resolve(unsigned name)
{
#ifdef FIXED
	pthread_rwlock_wrlock(&table.lock);
	int i = find_locked(name);
	if (i < 0)
		i = add_locked(name);
#else
	pthread_rwlock_rdlock(&table.lock);
	int i = find_locked(name);
	if (i < 0) {
		pthread_rwlock_unlock(&table.lock);
		pthread_rwlock_wrlock(&table.lock);
		i = add_locked(name);
	}
#endif
	unsigned address = table.address[i];
	pthread_rwlock_unlock(&table.lock);
	return address;
}

static void *client(void *arg)
{
	unsigned *names = arg;

	dns_resolve(names[0]);
	dns_resolve(names[1]);
	return NULL;
}

int main(void)
{
	unsigned first[] = {7, 9}, second[] = {8, 7};
	pthread_t a, b;

	pthread_create(&a, NULL, client, first);
	pthread_create(&b, NULL, client, second);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d entries for 3 names\n", table.entries);
	return table.entries != 3;
}
