/* SPDX-License-Identifier: MIT */
/*
 * Functions that only let time or others pass. They order nothing, so nothing is told of them; under the gate they let
 * others go first, and no time is spent.
 */
#include <sched.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "runtime/gate.h"
#include "runtime/real.h"
#include "sched/order.h"

EXPORT int pthread_yield(void);
EXPORT int __sched_yield(void);
EXPORT int __nanosleep(const struct timespec *time, struct timespec *left);

/* Whether the gate has taken care of it. */
static bool yields(void *pc)
{
	if (!gate_on || !gate_mine)
		return false;
	gate_step(&(struct gate_op){.kind = ORDER_YIELD, .pc = pc, .cancels = true});
	return true;
}

static bool is_time(const struct timespec *t)
{
	return t && t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < 1000000000;
}

EXPORT int sched_yield(void)
{
	return yields(CALLER) ? 0 : REAL(sched_yield)();
}

EXPORT int __sched_yield(void)
{
	return yields(CALLER) ? 0 : REAL(sched_yield)();
}

EXPORT int pthread_yield(void)
{
	return yields(CALLER) ? 0 : REAL(sched_yield)();
}

EXPORT void thrd_yield(void)
{
	if (!yields(CALLER))
		REAL(thrd_yield)();
}

EXPORT unsigned sleep(unsigned seconds)
{
	return yields(CALLER) ? 0 : REAL(sleep)(seconds);
}

EXPORT int usleep(useconds_t time)
{
	return yields(CALLER) ? 0 : REAL(usleep)(time);
}

EXPORT int nanosleep(const struct timespec *time, struct timespec *left)
{
	return is_time(time) && yields(CALLER) ? 0 : REAL(nanosleep)(time, left);
}

EXPORT int __nanosleep(const struct timespec *time, struct timespec *left)
{
	return is_time(time) && yields(CALLER) ? 0 : REAL(nanosleep)(time, left);
}

EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
	return is_time(time) && yields(CALLER) ? 0 : REAL(clock_nanosleep)(clock, flags, time, left);
}

EXPORT int thrd_sleep(const struct timespec *time, struct timespec *left)
{
	return is_time(time) && yields(CALLER) ? 0 : REAL(thrd_sleep)(time, left);
}
