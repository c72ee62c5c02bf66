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

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "runtime/told.h"
#include "sched/order.h"

struct waiting {
	const void *condition, *mutex;
	void *pc;
	bool told;
};

static inline void waiting_told(const struct waiting *w, enum entry_kind kind)
{
	if (w->told && quiet_on && kind == ENTRY_WAIT && self())
		quiet_waits(self(), w->mutex);
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

/* Under the gate. */

/* The bits of a condition's word: of several processes, and which clock. */
static inline bool waiting_is_shared(const void *condition)
{
	return ((const pthread_cond_t *)condition)->__data.__wrefs & 1;
}

/* Whether the gate is to do the wait; the others are the real function's. */
static inline bool waiting_is_gated(const struct waiting *w)
{
	return gate_on && gate_mine && w->told && !waiting_is_shared(w->condition);
}

/*
 * The two halves of a wait, each a step of its own. The mutex is released and taken by the real functions, which do not
 * wait here. C11's objects are POSIX's in this libc.
 */
static inline int waiting_gated(struct waiting *w, const struct timespec *limit, clockid_t clock, int expired)
{
	struct gate_op op = {.kind = ORDER_WOKEN, .need = NEED_NOTIFIED, .object = w->condition, .mutex = w->mutex,
		.pc = w->pc, .limit = limit, .clock = clock, .cancels = true};
	pthread_mutex_t *m = (pthread_mutex_t *)(uintptr_t)w->mutex;
	int result;
	bool in_time;

	gate_enter_condition(w->condition);
	result = REAL(pthread_mutex_unlock)(m);
	if (result) {
		gate_leave_condition();
		return result;
	}
	in_time = gate_wait_condition(&op);
	result = REAL(pthread_mutex_lock)(m);
	return result ? result : in_time ? 0 : expired;
}

/* A wait of several processes: the turn is given up for as long as it takes. */
static inline bool waiting_away(const struct waiting *w)
{
	if (!gate_on || !gate_mine || !w->told)
		return false;
	gate_real();
	return gate_away(w->pc);
}

static inline void waiting_back(bool away)
{
	if (away)
		gate_back();
}

/*
 * What stands behind is looked up first: the loader may allocate memory, which is not to be told from inside the wait.
 *
 * A line a function: its limit or NULL, the limit's clock, what is returned when it is over, its parameters, how it is
 * called; `o` is the condition, `m` the mutex.
 */
#define WRAP_WAIT(name, until_, clock_, expired, parameters, arguments) \
	EXPORT int name parameters \
	{ \
		__typeof__(&name) behind = REAL_OF(name, WRAP_VERSION); \
		struct waiting w = {o, m, CALLER, waiting_allowed(until_)}; \
		bool gated, away; \
		int result; \
		gate_pass((struct gate_op){.kind = EVENT_WAIT, .object = o, .pc = CALLER, .cancels = true}); \
		waiting_told(&w, ENTRY_WAIT); \
		pthread_cleanup_push(waiting_over, &w); \
		gated = waiting_is_gated(&w); \
		away = !gated && waiting_away(&w); \
		result = gated ? waiting_gated(&w, until_, clock_, expired) : behind arguments; \
		waiting_back(away); \
		pthread_cleanup_pop(1); \
		waiting_lost(&w, result); \
		gate_test_cancel(); \
		return result; \
	}

#define WRAP_NOTIFY(name, all, entry, event, parameters, arguments) \
	EXPORT int name parameters \
	{ \
		gate_pass((struct gate_op){.kind = event, .object = o, .pc = CALLER}); \
		told(entry, told_object(o), CALLER); \
		gate_notify(o, all); \
		return REAL_OF(name, WRAP_VERSION) arguments; \
	}

#endif
