/* SPDX-License-Identifier: MIT */
/* C11's mutexes and conditions, which do not pass through the functions of POSIX. Threads are in wrap_thread.c. */
#include <pthread.h>
#include <threads.h>

#include "runtime/told.h"
#include "runtime/waiting.h"

_Static_assert(thrd_success == 0, "what succeeds is zero");

WRAP_AFTER(mtx_lock, is_zero, ENTRY_ACQUIRE, (mtx_t *o), (o))
WRAP_AFTER(mtx_trylock, is_zero, ENTRY_ACQUIRE, (mtx_t *o), (o))
WRAP_AFTER(mtx_timedlock, is_zero, ENTRY_ACQUIRE, (mtx_t *o, const struct timespec *until), (o, until))
WRAP_BEFORE(mtx_unlock, ENTRY_RELEASE, (mtx_t *o), (o))
WRAP_MAKE(mtx_init, OBJECT_MUTEX, (mtx_t *o, int type), (o, type))

WRAP_WAIT(cnd_wait, NULL, (cnd_t *o, mtx_t *m), (o, m))
WRAP_WAIT(cnd_timedwait, until, (cnd_t *o, mtx_t *m, const struct timespec *until), (o, m, until))
WRAP_BEFORE(cnd_signal, ENTRY_NOTIFY, (cnd_t *o), (o))
WRAP_BEFORE(cnd_broadcast, ENTRY_NOTIFY_ALL, (cnd_t *o), (o))
WRAP_MAKE(cnd_init, OBJECT_COND, (cnd_t *o), (o))

#define WRAP_DESTROY(name, type) \
	EXPORT void name(type *o) \
	{ \
		REAL(name)(o); \
		told(ENTRY_BREAK, o, CALLER); \
	}

WRAP_DESTROY(mtx_destroy, mtx_t)
WRAP_DESTROY(cnd_destroy, cnd_t)
