/* SPDX-License-Identifier: MIT */
/*
 * In place of wrap_mutex.c, with the order broken on purpose: a release takes its ticket after it has happened, when
 * another thread may have acquired the lock and taken one. The tests of the order must notice.
 */
#include <pthread.h>
#include <sched.h>

#include "runtime/real.h"
#include "runtime/self.h"

static void told(enum entry_kind kind, const void *mutex, void *pc)
{
	struct self *s = self();

	if (s)
		self_sync(s, (struct sync){.kind = kind, .object = mutex, .pc = pc});
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
	int result = REAL(pthread_mutex_lock)(m);

	told(ENTRY_ACQUIRE, m, CALLER);
	return result;
}

/* Until another thread has taken a ticket, or none wants one. */
static void dawdle(uint64_t seen)
{
	for (unsigned i = 0; i < 100 && __atomic_load_n(&channel->ticket, __ATOMIC_ACQUIRE) == seen; i++)
		sched_yield();
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *m)
{
	static uint32_t releases;
	uint64_t seen = channel ? __atomic_load_n(&channel->ticket, __ATOMIC_ACQUIRE) : 0;
	int result = REAL(pthread_mutex_unlock)(m);

	if (channel && __atomic_add_fetch(&releases, 1, __ATOMIC_RELAXED) % 64 == 0)
		dawdle(seen);
	told(ENTRY_RELEASE, m, CALLER);
	return result;
}
