/* SPDX-License-Identifier: MIT */
/* pthread_mutex_*. An acquire is told once it has succeeded, a release before it happens. */
#include <errno.h>
#include <pthread.h>

#include "runtime/real.h"
#include "runtime/self.h"

/* A robust mutex whose owner died is held by the caller all the same. */
static bool is_held(int result)
{
	return result == 0 || result == EOWNERDEAD;
}

static void told(enum entry_kind kind, const void *mutex, void *pc)
{
	struct self *s = self();

	if (s)
		self_sync(s, (struct sync){.kind = kind, .object = mutex, .pc = pc});
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
	int result = REAL(pthread_mutex_lock)(m);

	if (is_held(result))
		told(ENTRY_ACQUIRE, m, CALLER);
	return result;
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *m)
{
	int result = REAL(pthread_mutex_trylock)(m);

	if (is_held(result))
		told(ENTRY_ACQUIRE, m, CALLER);
	return result;
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
	int result = REAL(pthread_mutex_timedlock)(m, until);

	if (is_held(result))
		told(ENTRY_ACQUIRE, m, CALLER);
	return result;
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock, const struct timespec *until)
{
	int result = REAL(pthread_mutex_clocklock)(m, clock, until);

	if (is_held(result))
		told(ENTRY_ACQUIRE, m, CALLER);
	return result;
}

/* One that fails was told of all the same; the collector drops the release of a lock that is not held. */
EXPORT int pthread_mutex_unlock(pthread_mutex_t *m)
{
	told(ENTRY_RELEASE, m, CALLER);
	return REAL(pthread_mutex_unlock)(m);
}

EXPORT int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
	int result = REAL(pthread_mutex_init)(m, attr);
	struct self *s = self();

	if (s && result == 0)
		self_sync(s, (struct sync){.kind = ENTRY_MAKE, .small = OBJECT_MUTEX, .object = m, .pc = CALLER});
	return result;
}

EXPORT int pthread_mutex_destroy(pthread_mutex_t *m)
{
	told(ENTRY_BREAK, m, CALLER);
	return REAL(pthread_mutex_destroy)(m);
}
