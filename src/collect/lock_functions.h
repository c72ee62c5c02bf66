/* SPDX-License-Identifier: MIT */
/*
 * Calls of the lock and unlock functions that a configuration names: what they do inside is not looked at, and they
 * are the acquire and the release of a lock.
 *
 * Which lock cannot be seen from the call, whose arguments are not known, but from what the function does: the lock is
 * the object of the last atomic read-modify-write in it. It is held when the function is left, provided that this one
 * had success: an exchange found 0 (or left it), a compare-and-exchange did not fail, an addition always does.
 * A function that does none takes nothing: it has tried in vain, or is made of something that has no hooks.
 *
 * The unlock function gives back the lock of its pair that the thread holds, before it does anything. If the thread
 * holds several, it is the one that the function's first atomic write is to, or else lies next to: locks of two words.
 *
 * State: the locks that a thread holds. Cost: linear in those.
 */
#ifndef FISSION_COLLECT_LOCK_FUNCTIONS_H
#define FISSION_COLLECT_LOCK_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/roles.h"
#include "collect/spinlocks.h"

struct lock_held {
	uint32_t pair;
	struct spin_operation taken;
};

/* A member of each thread's record. */
struct lock_calls {
	unsigned inside;  /* functions of that kind that are open */
	struct role_of of; /* the outermost */
	bool tried, got;  /* a read-modify-write was done; the last had success */
	bool given;       /* the unlock function has released */
	struct spin_operation last;
	struct lock_held *held;
	size_t count, capacity;
};

/* A lock or unlock function is entered or left by the thread. */
void lock_calls_enter(struct lock_calls *c, struct role_of of, const struct spin_listener *to);
/* Returns whether it was a lock function that had taken no lock nor tried one. */
bool lock_calls_leave(struct lock_calls *c, struct arena *a, const struct spin_listener *to);

/* An atomic operation inside of one. */
void lock_calls_atomic(struct lock_calls *c, const struct spin_operation *o, const struct spin_listener *to);

#endif
