/* SPDX-License-Identifier: MIT */
/* A number's flag says that one of two things has happened, the end or the detaching: the other takes it out. */
#include "threads.h"

#include <stddef.h>

#include "runtime/numbers.h"

static const void *address_of(pthread_t handle)
{
	return (const void *)handle;
}

void threads_add(pthread_t handle, uint32_t number)
{
	struct number *p;

	numbers_lock(&numbers_threads);
	p = numbers_put(&numbers_threads, address_of(handle));
	if (p && p->value < number)
		*p = (struct number){.address = p->address, .value = number};
	numbers_unlock(&numbers_threads);
}

uint32_t threads_find(pthread_t handle)
{
	return numbers_find(&numbers_threads, address_of(handle));
}

void threads_joined(pthread_t handle, uint32_t number)
{
	struct number *p;

	numbers_lock(&numbers_threads);
	p = numbers_get(&numbers_threads, address_of(handle));
	if (p && p->value == number)
		p->gone = true;
	numbers_unlock(&numbers_threads);
}

static void second_leaves(pthread_t handle)
{
	struct number *p;

	numbers_lock(&numbers_threads);
	p = numbers_get(&numbers_threads, address_of(handle));
	if (p && p->flag)
		p->gone = true;
	else if (p)
		p->flag = true;
	numbers_unlock(&numbers_threads);
}

void threads_detached(pthread_t handle)
{
	second_leaves(handle);
}

void threads_ended(void)
{
	second_leaves(pthread_self());
}

void threads_forked(void)
{
	numbers_forked();
}
