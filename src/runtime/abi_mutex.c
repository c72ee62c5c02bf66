/* SPDX-License-Identifier: MIT */
/*
 * What programs say about their own synchronisation through <sanitizer/tsan_interface.h>.
 *
 * __tsan_release and __tsan_acquire order without excluding anyone, so they are the post and the wait of a semaphore.
 * Between pre and post of a mutex operation the thread records nothing: what the lock is made of is not looked at. An
 * acquire is told in post_lock, when it has succeeded, a release in pre_unlock, before it happens.
 */
#include <stddef.h>

#include "runtime/told.h"

/* The interface's numbers. */
enum {
	MUTEX_STATIC = 1 << 0,
	MUTEX_READ = 1 << 3,
	MUTEX_TRY_FAILED = 1 << 5,
	MUTEX_RECURSIVE_LOCK = 1 << 6,
	MUTEX_RECURSIVE_UNLOCK = 1 << 7,
};

EXPORT void __tsan_acquire(void *address);
EXPORT void __tsan_release(void *address);

void __tsan_acquire(void *address)
{
	told(ENTRY_SEM_WAIT, address, CALLER);
}

void __tsan_release(void *address)
{
	told(ENTRY_SEM_POST, address, CALLER);
}

/*
 * How often the thread has taken the mutexes that it holds: an unlock of all levels must say how many there were.
 * Only that question needs it, so it is enough for the few that a thread holds at a time.
 */
enum { HELD_MOST = 16 };

static __thread struct {
	const void *mutex;
	int levels;
} held[HELD_MOST] __attribute__((tls_model("initial-exec")));

/* Adds to the levels; returns how many there are now. */
static int held_change(const void *mutex, int by)
{
	int i = 0, spare = -1;

	for (; i < HELD_MOST && held[i].mutex != mutex; i++)
		spare = held[i].mutex ? spare : i;
	if (i == HELD_MOST)
		i = by > 0 ? spare : -1;
	if (i < 0)
		return 0;
	held[i].mutex = mutex;
	held[i].levels += by;
	if (held[i].levels > 0)
		return held[i].levels;
	held[i].mutex = NULL;
	held[i].levels = 0;
	return 0;
}

EXPORT void __tsan_mutex_create(void *mutex, unsigned flags);
EXPORT void __tsan_mutex_destroy(void *mutex, unsigned flags);
EXPORT void __tsan_mutex_pre_lock(void *mutex, unsigned flags);
EXPORT void __tsan_mutex_post_lock(void *mutex, unsigned flags, int levels);
EXPORT int __tsan_mutex_pre_unlock(void *mutex, unsigned flags);
EXPORT void __tsan_mutex_post_unlock(void *mutex, unsigned flags);

void __tsan_mutex_create(void *mutex, unsigned flags)
{
	(void)flags;
	told_made(OBJECT_MUTEX, mutex, CALLER);
}

void __tsan_mutex_destroy(void *mutex, unsigned flags)
{
	if (!(flags & MUTEX_STATIC))
		told(ENTRY_BREAK, mutex, CALLER);
}

void __tsan_mutex_pre_lock(void *mutex, unsigned flags)
{
	(void)mutex;
	(void)flags;
	self_pause();
}

void __tsan_mutex_post_lock(void *mutex, unsigned flags, int levels)
{
	int times = flags & MUTEX_RECURSIVE_LOCK && levels > 0 ? levels : 1;

	self_resume();
	if (flags & MUTEX_TRY_FAILED)
		return;
	if (!(flags & MUTEX_READ))
		held_change(mutex, times);
	for (int i = 0; i < times; i++)
		told(flags & MUTEX_READ ? ENTRY_ACQUIRE_SHARED : ENTRY_ACQUIRE, mutex, CALLER);
}

int __tsan_mutex_pre_unlock(void *mutex, unsigned flags)
{
	int levels = 1;

	if (!(flags & MUTEX_READ)) {
		if (flags & MUTEX_RECURSIVE_UNLOCK)
			levels = held_change(mutex, 0);
		levels = levels > 0 ? levels : 1;
		held_change(mutex, -levels);
	}
	for (int i = 0; i < levels; i++)
		told(flags & MUTEX_READ ? ENTRY_RELEASE_SHARED : ENTRY_RELEASE, mutex, CALLER);
	self_pause();
	return flags & MUTEX_RECURSIVE_UNLOCK ? levels : 0;
}

void __tsan_mutex_post_unlock(void *mutex, unsigned flags)
{
	(void)mutex;
	(void)flags;
	self_resume();
}

/* A notification is part of the lock, like the rest of its inside; a diversion is not. */
#define PART(name, act) \
	EXPORT void name(void *mutex, unsigned flags); \
	void name(void *mutex, unsigned flags) \
	{ \
		(void)mutex; \
		(void)flags; \
		act(); \
	}

PART(__tsan_mutex_pre_signal, self_pause)
PART(__tsan_mutex_post_signal, self_resume)
PART(__tsan_mutex_pre_divert, self_resume)
PART(__tsan_mutex_post_divert, self_pause)
