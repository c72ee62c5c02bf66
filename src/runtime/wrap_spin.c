/* SPDX-License-Identifier: MIT */
/* pthread_spin_*. */
#include <pthread.h>

#include "runtime/told.h"

WRAP_ACQUIRE(pthread_spin_lock, GATED(EVENT_ACQUIRE, NEED_SPIN), 0, is_zero, ENTRY_ACQUIRE,
	(pthread_spinlock_t *o), (o))
WRAP_ACQUIRE(pthread_spin_trylock, GATED(EVENT_ACQUIRE, NEED_NOTHING), 0, is_zero, ENTRY_ACQUIRE,
	(pthread_spinlock_t *o), (o))
WRAP_RELEASE(pthread_spin_unlock, GATED(EVENT_RELEASE, NEED_NOTHING), ENTRY_RELEASE, (pthread_spinlock_t *o), (o))
WRAP_MAKE(pthread_spin_init, OBJECT_SPIN, (pthread_spinlock_t *o, int shared), (o, shared))
WRAP_AFTER(pthread_spin_destroy, is_zero, ENTRY_BREAK, (pthread_spinlock_t *o), (o))
