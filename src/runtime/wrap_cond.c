/* SPDX-License-Identifier: MIT */
/* pthread_cond_*: those of GLIBC_2.3.2; the older ones are of another size. */
#define WRAP_VERSION "GLIBC_2.3.2"

#include <pthread.h>

#include "runtime/told.h"
#include "runtime/waiting.h"

/* The clock that the condition was made with. */
static clockid_t clock_of(const pthread_cond_t *c)
{
	return c->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

WRAP_WAIT(pthread_cond_wait, NULL, 0, ETIMEDOUT, (pthread_cond_t *o, pthread_mutex_t *m), (o, m))
WRAP_WAIT(pthread_cond_timedwait, until, clock_of(o), ETIMEDOUT,
	(pthread_cond_t *o, pthread_mutex_t *m, const struct timespec *until), (o, m, until))
WRAP_WAIT(pthread_cond_clockwait, until, clock, ETIMEDOUT,
	(pthread_cond_t *o, pthread_mutex_t *m, clockid_t clock, const struct timespec *until), (o, m, clock, until))
WRAP_NOTIFY(pthread_cond_signal, false, ENTRY_NOTIFY, EVENT_NOTIFY, (pthread_cond_t *o), (o))
WRAP_NOTIFY(pthread_cond_broadcast, true, ENTRY_NOTIFY_ALL, EVENT_NOTIFY_ALL, (pthread_cond_t *o), (o))
WRAP_MAKE(pthread_cond_init, OBJECT_COND, (pthread_cond_t *o, const pthread_condattr_t *attr), (o, attr))
WRAP_AFTER(pthread_cond_destroy, is_zero, ENTRY_BREAK, (pthread_cond_t *o), (o))
