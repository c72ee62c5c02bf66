/* SPDX-License-Identifier: MIT */
/* expect: none */
/*
 * One thread uses all of an allocation, also what it has beyond what was asked for, and gives it back; then another gets
 * the same memory. Nothing orders the two but the allocator, and nothing has to: they are two lives.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "order.h"

enum { ASKED = 2001 }; /* so many that no thread keeps it for itself when it is free */

static uintptr_t first, second;

static uintptr_t live(size_t asked)
{
	char *p = malloc(asked);
	uintptr_t at = (uintptr_t)p;

	for (size_t i = 0; i < malloc_usable_size(p); i++)
		p[i] = 1;
	free(p);
	return at;
}

static void *alice(void *p)
{
	turn(1);
	first = live(ASKED);
	turn_over();
	turn(3); /* what the end of a thread gives back is not to come in between */
	return p;
}

static void *bob(void *p)
{
	live(1); /* what a thread's first allocation brings with it likewise */
	turn_over();
	turn(2);
	second = live(ASKED);
	turn_over();
	return p;
}

int main(void)
{
	mallopt(M_ARENA_MAX, 1);
	in_two_threads(alice, bob);
	printf("the same memory: %s\n", first == second ? "yes" : "no");
	return 0;
}
