/* SPDX-License-Identifier: MIT */
#include "numbers.h"

#include <stddef.h>

#include "runtime/os.h"

enum { FEWEST = 256 };

struct numbers numbers_threads, numbers_parties, numbers_opens;

static void forget_if_locked(struct numbers *n)
{
	if (n->lock)
		*n = (struct numbers){0};
}

void numbers_forked(void)
{
	forget_if_locked(&numbers_threads);
	forget_if_locked(&numbers_parties);
	forget_if_locked(&numbers_opens);
}

void numbers_lock(struct numbers *n)
{
	while (__atomic_exchange_n(&n->lock, 1, __ATOMIC_ACQUIRE))
		os_yield();
}

void numbers_unlock(struct numbers *n)
{
	__atomic_store_n(&n->lock, 0, __ATOMIC_RELEASE);
}

static struct number *place_of(struct number *at, uint64_t capacity, uint64_t address)
{
	uint64_t i = (address * 0x9e3779b97f4a7c15u) >> 20;

	while (at[i & (capacity - 1)].address && at[i & (capacity - 1)].address != address)
		i++;
	return &at[i & (capacity - 1)];
}

/* How large the table must be for those that are not gone, and as many again. */
static uint64_t wanted(const struct numbers *n)
{
	uint64_t living = 0, capacity = FEWEST;

	for (uint64_t i = 0; i < n->capacity; i++)
		living += n->at[i].address && !n->at[i].gone;
	while (capacity < living * 4)
		capacity *= 2;
	return capacity;
}

static bool rebuild(struct numbers *n)
{
	uint64_t capacity = wanted(n);
	struct number *at = os_map(capacity * sizeof *at, -1);

	if (!at)
		return false;
	n->used = 0;
	for (uint64_t i = 0; i < n->capacity; i++)
		if (n->at[i].address && !n->at[i].gone) {
			*place_of(at, capacity, n->at[i].address) = n->at[i];
			n->used++;
		}
	if (n->at)
		os_unmap(n->at, n->capacity * sizeof *at);
	n->at = at;
	n->capacity = capacity;
	return true;
}

struct number *numbers_get(struct numbers *n, const void *address)
{
	struct number *p = n->capacity ? place_of(n->at, n->capacity, (uintptr_t)address) : NULL;

	return p && p->address && !p->gone ? p : NULL;
}

struct number *numbers_put(struct numbers *n, const void *address)
{
	struct number *p;

	if (n->used * 2 >= n->capacity && !rebuild(n))
		return NULL;
	p = place_of(n->at, n->capacity, (uintptr_t)address);
	n->used += !p->address;
	p->address = (uintptr_t)address;
	return p;
}

static uint32_t look(struct numbers *n, const void *address)
{
	struct number *p = numbers_get(n, address);

	return p ? p->value : 0;
}

static void write(struct numbers *n, const void *address, uint32_t value)
{
	struct number *p = value ? numbers_put(n, address) : numbers_get(n, address);

	if (p)
		*p = (struct number){.address = (uintptr_t)address, .value = value, .gone = value == 0};
}

uint32_t numbers_find(struct numbers *n, const void *address)
{
	uint32_t value;

	numbers_lock(n);
	value = look(n, address);
	numbers_unlock(n);
	return value;
}

void numbers_set(struct numbers *n, const void *address, uint32_t value)
{
	numbers_lock(n);
	write(n, address, value);
	numbers_unlock(n);
}

uint32_t numbers_count(struct numbers *n, const void *address, int by)
{
	uint32_t value;

	numbers_lock(n);
	value = look(n, address) + (uint32_t)by;
	write(n, address, value);
	numbers_unlock(n);
	return value;
}
