/* SPDX-License-Identifier: MIT */
/*
 * pthread_mutex_*. Recursive ones are told each time: the collector counts. A robust mutex stays locked while it is
 * made consistent, so pthread_mutex_consistent has nothing to tell.
 */
#include <pthread.h>

#include "runtime/told.h"

WRAP_ACQUIRE(pthread_mutex_lock, GATED(EVENT_ACQUIRE, NEED_MUTEX), 0, is_held, ENTRY_ACQUIRE,
	(pthread_mutex_t *o), (o))
WRAP_ACQUIRE(pthread_mutex_trylock, GATED(EVENT_ACQUIRE, NEED_NOTHING), 0, is_held, ENTRY_ACQUIRE,
	(pthread_mutex_t *o), (o))
WRAP_ACQUIRE(pthread_mutex_timedlock, GATED(EVENT_ACQUIRE, NEED_MUTEX, LIMIT(until, CLOCK_REALTIME)), ETIMEDOUT, is_held,
	ENTRY_ACQUIRE, (pthread_mutex_t *o, const struct timespec *until), (o, until))
WRAP_ACQUIRE(pthread_mutex_clocklock, GATED(EVENT_ACQUIRE, NEED_MUTEX, LIMIT(until, clock)), ETIMEDOUT, is_held,
	ENTRY_ACQUIRE, (pthread_mutex_t *o, clockid_t clock, const struct timespec *until), (o, clock, until))
WRAP_RELEASE(pthread_mutex_unlock, GATED(EVENT_RELEASE, NEED_NOTHING), ENTRY_RELEASE, (pthread_mutex_t *o), (o))
WRAP_MAKE(pthread_mutex_init, OBJECT_MUTEX, (pthread_mutex_t *o, const pthread_mutexattr_t *attr), (o, attr))
WRAP_AFTER(pthread_mutex_destroy, is_zero, ENTRY_BREAK, (pthread_mutex_t *o), (o))

WRAP_ALIAS(__pthread_mutex_lock, pthread_mutex_lock, (pthread_mutex_t *o))
WRAP_ALIAS(__pthread_mutex_trylock, pthread_mutex_trylock, (pthread_mutex_t *o))
WRAP_ALIAS(__pthread_mutex_unlock, pthread_mutex_unlock, (pthread_mutex_t *o))
WRAP_ALIAS(__pthread_mutex_init, pthread_mutex_init, (pthread_mutex_t *o, const pthread_mutexattr_t *attr))
WRAP_ALIAS(__pthread_mutex_destroy, pthread_mutex_destroy, (pthread_mutex_t *o))
