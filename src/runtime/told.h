/* SPDX-License-Identifier: MIT */
/*
 * The rhythm of a wrapper: call what stands behind, and tell.
 *
 * What makes the caller wait for others (an acquire) is told once it has succeeded; what lets others go on (a release)
 * before it happens, whether or not it then succeeds: the collector drops the release of what is not held. The life of
 * an object begins and ends with calls that succeeded.
 *
 * The macros are tables, a line a function: its name, what is told, its parameters and how it is called; the object is
 * always the parameter `o`. WRAP_VERSION is the version of what stands behind, where there are several.
 */
#ifndef FISSION_RUNTIME_TOLD_H
#define FISSION_RUNTIME_TOLD_H

#include <errno.h>
#include <time.h>

#include "event/event.h"
#include "runtime/gate.h"
#include "runtime/quiet.h"
#include "runtime/real.h"
#include "runtime/self.h"

#ifndef WRAP_VERSION
#define WRAP_VERSION NULL
#endif

#define told_object(o) ((const void *)(uintptr_t)(o))

static inline void told_of(struct sync *y)
{
	struct self *s = self();

	gate_progress();
	if (s)
		self_tell(s, y);
	if (unlikely(quiet_on) && s)
		quiet_told(s, y);
}

static inline void told_sync(struct sync y)
{
	told_of(&y);
}

static inline void told(enum entry_kind kind, const void *object, void *pc)
{
	if (unlikely(quiet_on) && quiet_keeps(kind, object, pc))
		return;
	told_of(&(struct sync){.kind = kind, .object = object, .pc = pc});
}

static inline void told_made(enum object_sort sort, const void *object, void *pc)
{
	told_sync((struct sync){.kind = ENTRY_MAKE, .small = sort, .object = object, .pc = pc});
}

/* Which results are a success. */

static inline bool is_zero(int result)
{
	return result == 0;
}

/* A robust mutex whose owner died is held by the caller all the same. */
static inline bool is_held(int result)
{
	return result == 0 || result == EOWNERDEAD;
}

/*
 * Under the gate (gate.h) each function first waits for its turn, and until it can be done without waiting. `op` is
 * what it is about to do; `expired`, of those with a time limit, what it returns when that is over.
 */
#define GATED(event, needed, ...) \
	((struct gate_op){.kind = event, .need = needed, .object = told_object(o), .pc = CALLER, __VA_ARGS__})
#define LIMIT(until, which) .limit = until, .clock = which

#define WRAP_ACQUIRE(name, op, expired, is_done, kind, parameters, arguments) \
	EXPORT int name parameters \
	{ \
		int result = gate_pass(op) ? REAL_OF(name, WRAP_VERSION) arguments : (expired); \
		if (is_done(result)) \
			told(kind, told_object(o), CALLER); \
		return result; \
	}

#define WRAP_RELEASE(name, op, kind, parameters, arguments) \
	EXPORT int name parameters \
	{ \
		gate_pass(op); \
		told(kind, told_object(o), CALLER); \
		return REAL_OF(name, WRAP_VERSION) arguments; \
	}

#define WRAP_AFTER(name, is_done, kind, parameters, arguments) \
	EXPORT int name parameters \
	{ \
		int result = REAL_OF(name, WRAP_VERSION) arguments; \
		if (is_done(result)) \
			told(kind, told_object(o), CALLER); \
		return result; \
	}

#define WRAP_BEFORE(name, kind, parameters, arguments) \
	EXPORT int name parameters \
	{ \
		told(kind, told_object(o), CALLER); \
		return REAL_OF(name, WRAP_VERSION) arguments; \
	}

#define WRAP_MAKE(name, sort, parameters, arguments) \
	EXPORT int name parameters \
	{ \
		int result = REAL_OF(name, WRAP_VERSION) arguments; \
		if (result == 0) \
			told_made(sort, told_object(o), CALLER); \
		return result; \
	}

/* The name that old programs know it by. The attributes are what glibc says of the other one at most. */
#define WRAP_ALIAS(old, name, parameters) \
	EXPORT int old parameters __attribute__((alias(#name), nothrow, leaf, nonnull(1)));

#endif
