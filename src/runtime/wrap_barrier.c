/* SPDX-License-Identifier: MIT */
/*
 * pthread_barrier_*. The parties are known from the making. One that was made in another program, in shared memory, has
 * none here: then nothing is told, as no one could say when a round is complete.
 */
#include <pthread.h>

#include "runtime/numbers.h"
#include "runtime/told.h"
#include "sched/order.h"

EXPORT int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attr, unsigned parties)
{
	int result = REAL(pthread_barrier_init)(b, attr, parties);

	if (result == 0) {
		numbers_set(&numbers_parties, b, parties);
		told_made(OBJECT_BARRIER, b, CALLER);
	}
	return result;
}

/* In libc's layout: whether other processes may use it. */
static bool is_shared(const pthread_barrier_t *b)
{
	return ((const int *)b)[3] != 0;
}

/* Under the gate: the last one lets the others go. */
static int wait_gated(pthread_barrier_t *b, uint32_t parties, void *pc)
{
	bool last = gate_arrive_barrier(b, parties);

	gate_pass((struct gate_op){.kind = ORDER_DEPART, .need = NEED_DEPARTURE, .object = b, .pc = pc});
	return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

static int wait_outside(__typeof__(&pthread_barrier_wait) behind, pthread_barrier_t *b, void *pc)
{
	bool away = gate_on && gate_away(pc);
	int result = behind(b);

	if (away) {
		gate_real();
		gate_back();
	}
	return result;
}

EXPORT int pthread_barrier_wait(pthread_barrier_t *b)
{
	__typeof__(&pthread_barrier_wait) behind = REAL(pthread_barrier_wait); /* looked up first: see waiting.h */
	uint32_t parties = numbers_find(&numbers_parties, b);
	int result;

	gate_pass((struct gate_op){.kind = EVENT_BARRIER, .object = b, .pc = CALLER});
	if (parties)
		told_sync((struct sync){.kind = ENTRY_ARRIVE, .object = b, .pc = CALLER, .argument = parties});
	if (gate_mine && parties && !is_shared(b))
		result = wait_gated(b, parties, CALLER);
	else
		result = wait_outside(behind, b, CALLER);
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
