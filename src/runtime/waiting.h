/* SPDX-License-Identifier: MIT */
/*
 * A wait at a condition: what pthread_cond_* and cnd_* have in common.
 *
 * WAIT is told before the mutex is released, WOKEN once it is held again: after a signal, a time-out, and also when
 * the thread is cancelled inside, since the mutex is held again by the time that the first cleanup handler runs, and
 * ours is the innermost. A limit that is none is refused with the mutex held throughout: nothing is told of it.
 */
#ifndef FISSION_RUNTIME_WAITING_H
#define FISSION_RUNTIME_WAITING_H

#include <stdbool.h>
#include <time.h>

#include "runtime/told.h"

struct waiting {
	const void *condition, *mutex;
	void *pc;
	bool told;
};

static inline void waiting_told(const struct waiting *w, enum entry_kind kind)
{
	if (w->told)
		told_sync((struct sync){
			.kind = kind, .object = w->condition, .pc = w->pc, .argument = (uintptr_t)w->mutex,
		});
}

static inline bool waiting_allowed(const struct timespec *until)
{
	return !until || (until->tv_nsec >= 0 && until->tv_nsec < 1000000000);
}

static inline void waiting_over(void *w)
{
	waiting_told(w, ENTRY_WOKEN);
}

/* A robust mutex that cannot be had back is not held. */
static inline void waiting_lost(const struct waiting *w, int result)
{
	if (result == ENOTRECOVERABLE)
		told(ENTRY_RELEASE, w->mutex, w->pc);
}

/*
 * What stands behind is looked up first: the loader may allocate memory, which is not to be told from inside the wait.
 *
 * A line a function: its limit or NULL, its parameters, how it is called; `o` is the condition, `m` the mutex.
 */
#define WRAP_WAIT(name, limit, parameters, arguments) \
	EXPORT int name parameters \
	{ \
		__typeof__(&name) behind = REAL_OF(name, WRAP_VERSION); \
		struct waiting w = {o, m, CALLER, waiting_allowed(limit)}; \
		int result; \
		waiting_told(&w, ENTRY_WAIT); \
		pthread_cleanup_push(waiting_over, &w); \
		result = behind arguments; \
		pthread_cleanup_pop(1); \
		waiting_lost(&w, result); \
		return result; \
	}

#endif
