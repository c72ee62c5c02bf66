/* SPDX-License-Identifier: MIT */
/*
 * sem_*. Opening a named semaphore that is open gives the same address again, so its life ends with as many closes:
 * until then it must stay one object, or posts would be lost to those who wait.
 */
#include <fcntl.h>
#include <semaphore.h>
#include <stdarg.h>

#include "runtime/numbers.h"
#include "runtime/told.h"

static int late(void)
{
	errno = ETIMEDOUT;
	return -1;
}

WRAP_ACQUIRE(sem_wait, GATED(EVENT_SEM_WAIT, NEED_SEMAPHORE, .cancels = true), 0, is_zero, ENTRY_SEM_WAIT,
	(sem_t *o), (o))
WRAP_ACQUIRE(sem_trywait, GATED(EVENT_SEM_WAIT, NEED_NOTHING), 0, is_zero, ENTRY_SEM_WAIT, (sem_t *o), (o))
WRAP_ACQUIRE(sem_timedwait, GATED(EVENT_SEM_WAIT, NEED_SEMAPHORE, .cancels = true, LIMIT(until, CLOCK_REALTIME)), late(),
	is_zero, ENTRY_SEM_WAIT, (sem_t *o, const struct timespec *until), (o, until))
WRAP_ACQUIRE(sem_clockwait, GATED(EVENT_SEM_WAIT, NEED_SEMAPHORE, .cancels = true, LIMIT(until, clock)), late(),
	is_zero, ENTRY_SEM_WAIT, (sem_t *o, clockid_t clock, const struct timespec *until), (o, clock, until))
WRAP_RELEASE(sem_post, GATED(EVENT_SEM_POST, NEED_NOTHING), ENTRY_SEM_POST, (sem_t *o), (o))
WRAP_MAKE(sem_init, OBJECT_SEM, (sem_t *o, int shared, unsigned value), (o, shared, value))
WRAP_AFTER(sem_destroy, is_zero, ENTRY_BREAK, (sem_t *o), (o))

/* Permissions and value are there only if it may be made; reading them otherwise is harmless, as for open(). */
EXPORT sem_t *sem_open(const char *name, int flags, ...)
{
	mode_t permissions;
	unsigned value;
	va_list ap;
	sem_t *o;

	va_start(ap, flags);
	permissions = va_arg(ap, mode_t);
	value = va_arg(ap, unsigned);
	va_end(ap);
	o = REAL(sem_open)(name, flags, permissions, value);
	if (o != SEM_FAILED && numbers_count(&numbers_opens, o, 1) == 1)
		told_made(OBJECT_SEM, o, CALLER);
	return o;
}

/* Counted before: once it is closed, the address may be another's. */
EXPORT int sem_close(sem_t *o)
{
	bool was_open = numbers_find(&numbers_opens, o) > 0;

	if (was_open && numbers_count(&numbers_opens, o, -1) == 0)
		told(ENTRY_BREAK, o, CALLER);
	return REAL(sem_close)(o);
}
