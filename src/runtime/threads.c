/* SPDX-License-Identifier: MIT */
/*
 * Open addressing under a spin lock that is held for a few instructions, never while anything of the program runs.
 * Numbers of threads that were taken out leave a tombstone; the table is rebuilt when half of it is in use.
 */
#include "threads.h"

#include <sched.h>
#include <stdbool.h>

#include "runtime/os.h"

struct place {
	uint64_t handle; /* 0: free */
	uint32_t number; /* 0: a tombstone */
};

static struct {
	uint32_t lock;
	struct place *at;
	uint64_t capacity, used; /* used: places that are not free */
} table;

static void lock(void)
{
	while (__atomic_exchange_n(&table.lock, 1, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void unlock(void)
{
	__atomic_store_n(&table.lock, 0, __ATOMIC_RELEASE);
}

static struct place *find(struct place *at, uint64_t capacity, uint64_t handle)
{
	uint64_t i = (handle * 0x9e3779b97f4a7c15u) >> 20;

	while (at[i & (capacity - 1)].handle && at[i & (capacity - 1)].handle != handle)
		i++;
	return &at[i & (capacity - 1)];
}

/* Twice the living ones at least. False if there is no memory: then joins of new threads are not told. */
static bool grow(void)
{
	uint64_t capacity = table.capacity ? table.capacity * 2 : 4096 / sizeof(struct place);
	struct place *at;

	while (capacity & (capacity - 1))
		capacity &= capacity - 1;
	at = os_map(capacity * sizeof *at, -1);
	if (!at)
		return false;
	table.used = 0;
	for (uint64_t i = 0; i < table.capacity; i++)
		if (table.at[i].number) {
			*find(at, capacity, table.at[i].handle) = table.at[i];
			table.used++;
		}
	if (table.at)
		os_unmap(table.at, table.capacity * sizeof *at);
	table.at = at;
	table.capacity = capacity;
	return true;
}

void threads_add(pthread_t handle, uint32_t number)
{
	struct place *p;

	lock();
	if (table.used * 2 < table.capacity || grow()) {
		p = find(table.at, table.capacity, (uint64_t)handle);
		table.used += !p->handle;
		*p = (struct place){(uint64_t)handle, number};
	}
	unlock();
}

static uint32_t look(pthread_t handle, bool take)
{
	struct place *p;
	uint32_t number = 0;

	lock();
	if (table.capacity) {
		p = find(table.at, table.capacity, (uint64_t)handle);
		number = p->number;
		if (take)
			p->number = 0;
	}
	unlock();
	return number;
}

uint32_t threads_find(pthread_t handle)
{
	return look(handle, false);
}

uint32_t threads_take(pthread_t handle)
{
	return look(handle, true);
}

void threads_forked(void)
{
	table.lock = 0;
}
