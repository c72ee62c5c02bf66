/* SPDX-License-Identifier: MIT */
/* C11's mutexes and conditions, which do not pass through the functions of POSIX. Threads are in wrap_thread.c. */
#include <pthread.h>
#include <threads.h>

#include "runtime/told.h"
#include "runtime/waiting.h"

_Static_assert(thrd_success == 0, "what succeeds is zero");

WRAP_ACQUIRE(mtx_lock, GATED(EVENT_ACQUIRE, NEED_MUTEX), 0, is_zero, ENTRY_ACQUIRE, (mtx_t *o), (o))
WRAP_ACQUIRE(mtx_trylock, GATED(EVENT_ACQUIRE, NEED_NOTHING), 0, is_zero, ENTRY_ACQUIRE, (mtx_t *o), (o))
WRAP_ACQUIRE(mtx_timedlock, GATED(EVENT_ACQUIRE, NEED_MUTEX, LIMIT(until, CLOCK_REALTIME)), thrd_timedout, is_zero,
	ENTRY_ACQUIRE, (mtx_t *o, const struct timespec *until), (o, until))
WRAP_RELEASE(mtx_unlock, GATED(EVENT_RELEASE, NEED_NOTHING), ENTRY_RELEASE, (mtx_t *o), (o))
WRAP_MAKE(mtx_init, OBJECT_MUTEX, (mtx_t *o, int type), (o, type))

WRAP_WAIT(cnd_wait, NULL, 0, thrd_timedout, (cnd_t *o, mtx_t *m), (o, m))
WRAP_WAIT(cnd_timedwait, until, CLOCK_REALTIME, thrd_timedout, (cnd_t *o, mtx_t *m, const struct timespec *until),
	(o, m, until))
WRAP_NOTIFY(cnd_signal, false, ENTRY_NOTIFY, EVENT_NOTIFY, (cnd_t *o), (o))
WRAP_NOTIFY(cnd_broadcast, true, ENTRY_NOTIFY_ALL, EVENT_NOTIFY_ALL, (cnd_t *o), (o))
WRAP_MAKE(cnd_init, OBJECT_COND, (cnd_t *o), (o))

#define WRAP_DESTROY(name, type) \
	EXPORT void name(type *o) \
	{ \
		REAL(name)(o); \
		told(ENTRY_BREAK, o, CALLER); \
	}

WRAP_DESTROY(mtx_destroy, mtx_t)
WRAP_DESTROY(cnd_destroy, cnd_t)
