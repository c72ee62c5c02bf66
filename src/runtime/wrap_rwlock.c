/* SPDX-License-Identifier: MIT */
/* pthread_rwlock_*. An unlock does not say of which side: the collector knows which one the thread holds. */
#include <pthread.h>

#include "runtime/told.h"

WRAP_ACQUIRE(pthread_rwlock_rdlock, GATED(EVENT_ACQUIRE_SHARED, NEED_READ_LOCK), 0, is_zero, ENTRY_ACQUIRE_SHARED,
	(pthread_rwlock_t *o), (o))
WRAP_ACQUIRE(pthread_rwlock_tryrdlock, GATED(EVENT_ACQUIRE_SHARED, NEED_NOTHING), 0, is_zero, ENTRY_ACQUIRE_SHARED,
	(pthread_rwlock_t *o), (o))
WRAP_ACQUIRE(pthread_rwlock_timedrdlock, GATED(EVENT_ACQUIRE_SHARED, NEED_READ_LOCK, LIMIT(until, CLOCK_REALTIME)), ETIMEDOUT,
	is_zero, ENTRY_ACQUIRE_SHARED, (pthread_rwlock_t *o, const struct timespec *until), (o, until))
WRAP_ACQUIRE(pthread_rwlock_clockrdlock, GATED(EVENT_ACQUIRE_SHARED, NEED_READ_LOCK, LIMIT(until, clock)), ETIMEDOUT,
	is_zero, ENTRY_ACQUIRE_SHARED, (pthread_rwlock_t *o, clockid_t clock, const struct timespec *until), (o, clock, until))
WRAP_ACQUIRE(pthread_rwlock_wrlock, GATED(EVENT_ACQUIRE, NEED_WRITE_LOCK), 0, is_zero, ENTRY_ACQUIRE,
	(pthread_rwlock_t *o), (o))
WRAP_ACQUIRE(pthread_rwlock_trywrlock, GATED(EVENT_ACQUIRE, NEED_NOTHING), 0, is_zero, ENTRY_ACQUIRE,
	(pthread_rwlock_t *o), (o))
WRAP_ACQUIRE(pthread_rwlock_timedwrlock, GATED(EVENT_ACQUIRE, NEED_WRITE_LOCK, LIMIT(until, CLOCK_REALTIME)), ETIMEDOUT,
	is_zero, ENTRY_ACQUIRE, (pthread_rwlock_t *o, const struct timespec *until), (o, until))
WRAP_ACQUIRE(pthread_rwlock_clockwrlock, GATED(EVENT_ACQUIRE, NEED_WRITE_LOCK, LIMIT(until, clock)), ETIMEDOUT,
	is_zero, ENTRY_ACQUIRE, (pthread_rwlock_t *o, clockid_t clock, const struct timespec *until), (o, clock, until))
WRAP_RELEASE(pthread_rwlock_unlock, GATED(EVENT_RELEASE, NEED_NOTHING), ENTRY_RELEASE, (pthread_rwlock_t *o), (o))
WRAP_MAKE(pthread_rwlock_init, OBJECT_RWLOCK, (pthread_rwlock_t *o, const pthread_rwlockattr_t *attr), (o, attr))
WRAP_AFTER(pthread_rwlock_destroy, is_zero, ENTRY_BREAK, (pthread_rwlock_t *o), (o))

WRAP_ALIAS(__pthread_rwlock_rdlock, pthread_rwlock_rdlock, (pthread_rwlock_t *o))
WRAP_ALIAS(__pthread_rwlock_tryrdlock, pthread_rwlock_tryrdlock, (pthread_rwlock_t *o))
WRAP_ALIAS(__pthread_rwlock_wrlock, pthread_rwlock_wrlock, (pthread_rwlock_t *o))
WRAP_ALIAS(__pthread_rwlock_trywrlock, pthread_rwlock_trywrlock, (pthread_rwlock_t *o))
WRAP_ALIAS(__pthread_rwlock_unlock, pthread_rwlock_unlock, (pthread_rwlock_t *o))
WRAP_ALIAS(__pthread_rwlock_init, pthread_rwlock_init, (pthread_rwlock_t *o, const pthread_rwlockattr_t *attr))
WRAP_ALIAS(__pthread_rwlock_destroy, pthread_rwlock_destroy, (pthread_rwlock_t *o))
