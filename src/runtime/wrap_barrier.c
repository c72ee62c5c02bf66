/* SPDX-License-Identifier: MIT */
/*
 * pthread_barrier_*. The parties are known from the making. One that was made in another program, in shared memory, has
 * none here: then nothing is told, as no one could say when a round is complete.
 */
#include <pthread.h>

#include "runtime/numbers.h"
#include "runtime/told.h"

EXPORT int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attr, unsigned parties)
{
	int result = REAL(pthread_barrier_init)(b, attr, parties);

	if (result == 0) {
		numbers_set(&numbers_parties, b, parties);
		told_made(OBJECT_BARRIER, b, CALLER);
	}
	return result;
}

EXPORT int pthread_barrier_wait(pthread_barrier_t *b)
{
	__typeof__(&pthread_barrier_wait) behind = REAL(pthread_barrier_wait); /* looked up first: see waiting.h */
	uint32_t parties = numbers_find(&numbers_parties, b);
	int result;

	if (parties)
		told_sync((struct sync){.kind = ENTRY_ARRIVE, .object = b, .pc = CALLER, .argument = parties});
	result = behind(b);
	if (parties)
		told(ENTRY_DEPART, b, CALLER);
	return result;
}

/* It waits for those who are still leaving; the memory is the caller's again when it returns. */
EXPORT int pthread_barrier_destroy(pthread_barrier_t *b)
{
	int result = REAL(pthread_barrier_destroy)(b);

	if (result == 0) {
		numbers_set(&numbers_parties, b, 0);
		told(ENTRY_BREAK, b, CALLER);
	}
	return result;
}
