/* SPDX-License-Identifier: MIT */
/* pthread_spin_*. */
#include <pthread.h>

#include "runtime/told.h"

WRAP_AFTER(pthread_spin_lock, is_zero, ENTRY_ACQUIRE, (pthread_spinlock_t *o), (o))
WRAP_AFTER(pthread_spin_trylock, is_zero, ENTRY_ACQUIRE, (pthread_spinlock_t *o), (o))
WRAP_BEFORE(pthread_spin_unlock, ENTRY_RELEASE, (pthread_spinlock_t *o), (o))
WRAP_MAKE(pthread_spin_init, OBJECT_SPIN, (pthread_spinlock_t *o, int shared), (o, shared))
WRAP_AFTER(pthread_spin_destroy, is_zero, ENTRY_BREAK, (pthread_spinlock_t *o), (o))
