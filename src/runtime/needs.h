/* SPDX-License-Identifier: MIT */
/*
 * Whether an operation on an object can be done now without waiting: a look at the object where it lies, in the way of
 * glibc. Only such state counts as somebody leaves behind who never waits inside of an object: all who wait do so at
 * the gate. What is looked at is a hint: the real function is called after, and decides.
 */
#ifndef FISSION_RUNTIME_NEEDS_H
#define FISSION_RUNTIME_NEEDS_H

#include <stdbool.h>
#include <stdint.h>

enum need {
	NEED_NOTHING,
	NEED_MUTEX,
	NEED_SPIN,
	NEED_READ_LOCK,
	NEED_WRITE_LOCK,
	NEED_SEMAPHORE,
	NEED_ONCE,       /* nobody is at the routine */
	NEED_GUARD,      /* of a C++ static: likewise */
	NEED_ENDED,      /* the thread of that number has ended */
	NEED_NOTIFIED,   /* at a condition, and the mutex */
	NEED_DEPARTURE,  /* from a barrier */
	NEED_DESCRIPTOR, /* ready for the events */
	NEED_BACK,       /* the thread is outside */
};

/* For the thread `tid`. Not met: *owner is the tid of who has the object, or 0. */
bool need_met(enum need need, const volatile void *object, int tid, int *owner);

/* Whether other processes may use the object as well. */
bool need_is_shared(enum need need, const volatile void *object);

/* A mutex that the system takes from a thread that ends. */
bool need_is_robust(const volatile void *mutex);

#endif
