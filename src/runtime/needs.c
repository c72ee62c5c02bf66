/* SPDX-License-Identifier: MIT */
#include "needs.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>

/* The bits of a mutex's kind, of a rwlock's readers, of a once-control and of a guard. */
enum {
	KIND_RECURSIVE = 1, KIND_CHECKED = 2, KIND_TYPE = 3, KIND_ROBUST = 16, KIND_INHERIT = 32, KIND_PROTECT = 64,
	KIND_SHARED = 128,
	WRITE_LOCKED = 2, READER_SHIFT = 3,
	ONCE_STATE = 3, ONCE_RUNS = 1,
	GUARD_DONE = 1, GUARD_RUNS = 1 << 8,
};

#define CEILING 0xfff80000u

static int load(const volatile int *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

/* Its owner, or 0 if it can be had. Whoever has died without a release is no owner. */
static int mutex_owner(const volatile pthread_mutex_t *m)
{
	unsigned lock = (unsigned)load(&m->__data.__lock);
	int kind = m->__data.__kind;

	if (kind & KIND_PROTECT)
		lock &= ~CEILING;
	if (kind & (KIND_ROBUST | KIND_INHERIT))
		return lock & FUTEX_OWNER_DIED ? 0 : (int)(lock & FUTEX_TID_MASK);
	return lock ? m->__data.__owner : 0;
}

static bool mutex_met(const volatile pthread_mutex_t *m, int tid, int *owner)
{
	unsigned lock = (unsigned)load(&m->__data.__lock);
	int type = m->__data.__kind & KIND_TYPE;

	if (m->__data.__kind & KIND_PROTECT)
		lock &= ~CEILING;
	if (!lock)
		return true;
	*owner = mutex_owner(m);
	if (m->__data.__kind & (KIND_ROBUST | KIND_INHERIT) && !*owner)
		return true;
	/* A lock of one's own is taken again, or refused, at once; or never. */
	return *owner == tid && (type == KIND_RECURSIVE || type == KIND_CHECKED);
}

static bool rwlock_met(const volatile pthread_rwlock_t *l, bool write, int tid, int *owner)
{
	unsigned readers = (unsigned)load((const volatile int *)&l->__data.__readers);

	if (readers & WRITE_LOCKED) {
		*owner = l->__data.__cur_writer;
		return *owner == tid; /* which is refused at once */
	}
	return !write || !(readers >> READER_SHIFT);
}

static bool spin_met(const volatile int *lock)
{
#if defined __x86_64__ || defined __i386__
	return load(lock) > 0;
#else
	return load(lock) == 0;
#endif
}

bool need_met(enum need need, const volatile void *object, int tid, int *owner)
{
	const volatile int *word = object;

	switch (need) {
	case NEED_MUTEX: return mutex_met(object, tid, owner);
	case NEED_SPIN: return spin_met(word);
	case NEED_READ_LOCK: return rwlock_met(object, false, tid, owner);
	case NEED_WRITE_LOCK: return rwlock_met(object, true, tid, owner);
	case NEED_SEMAPHORE: return load(word) != 0;
	case NEED_ONCE: return (load(word) & ONCE_STATE) != ONCE_RUNS;
	case NEED_GUARD: return load(word) & GUARD_DONE || !(load(word) & GUARD_RUNS);
	default: return true;
	}
}

bool need_is_shared(enum need need, const volatile void *object)
{
	switch (need) {
	case NEED_MUTEX: return ((const volatile pthread_mutex_t *)object)->__data.__kind & KIND_SHARED;
	case NEED_READ_LOCK: case NEED_WRITE_LOCK: return ((const volatile pthread_rwlock_t *)object)->__data.__shared;
	case NEED_SEMAPHORE: return ((const volatile int *)object)[2]; /* value, waiters, private */
	default: return false;
	}
}

bool need_is_robust(const volatile void *mutex)
{
	return ((const volatile pthread_mutex_t *)mutex)->__data.__kind & KIND_ROBUST;
}
