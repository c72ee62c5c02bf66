/* SPDX-License-Identifier: MIT */
#include "scenario.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;

int __pthread_mutex_lock(pthread_mutex_t *);
int __pthread_mutex_trylock(pthread_mutex_t *);
int __pthread_mutex_unlock(pthread_mutex_t *);
int __pthread_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *);
int __pthread_mutex_destroy(pthread_mutex_t *);

/* scenario two_mutexes: pthread_mutex_lock pthread_mutex_unlock
 * says: 0 0 0 0
 * events: T1 acq(m) acq(n) rel(m) rel(n)
 */
static void two_mutexes(void)
{
	SAY(pthread_mutex_lock(&m));
	SAY(pthread_mutex_lock(&n));
	SAY(pthread_mutex_unlock(&m));
	SAY(pthread_mutex_unlock(&n));
}

static void *try_m(void *unused)
{
	SAY(pthread_mutex_trylock(&m));
	return unused;
}

/* scenario trylock_busy: pthread_mutex_trylock
 * says: 0 EBUSY 0
 * events: T1 acq(m) fork(T2) join(T2) rel(m)
 */
static void trylock_busy(void)
{
	SAY(pthread_mutex_trylock(&m));
	elsewhere(try_m);
	SAY(pthread_mutex_unlock(&m));
}

static void *timed_m(void *unused)
{
	struct timespec real = soon_on(CLOCK_REALTIME), steady = soon_on(CLOCK_MONOTONIC), wrong = never();

	SAY(pthread_mutex_timedlock(&m, &real));
	SAY(pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &steady));
	SAY(pthread_mutex_timedlock(&m, &wrong));
	SAY(pthread_mutex_clocklock(&m, CLOCK_PROCESS_CPUTIME_ID, &steady));
	return unused;
}

/* scenario timed_out: pthread_mutex_timedlock pthread_mutex_clocklock
 * says: ETIMEDOUT ETIMEDOUT EINVAL EINVAL
 * events: T1 acq(m) fork(T2) join(T2) rel(m)
 */
static void timed_out(void)
{
	pthread_mutex_lock(&m);
	elsewhere(timed_m);
	pthread_mutex_unlock(&m);
}

/* scenario timed_in_time: pthread_mutex_timedlock pthread_mutex_clocklock
 * says: 0 0 0 0
 * events: T1 acq(m) rel(m) acq(m) rel(m)
 */
static void timed_in_time(void)
{
	struct timespec real = late_on(CLOCK_REALTIME), steady = late_on(CLOCK_MONOTONIC);

	SAY(pthread_mutex_timedlock(&m, &real));
	SAY(pthread_mutex_unlock(&m));
	SAY(pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &steady));
	SAY(pthread_mutex_unlock(&m));
}

static void init_as(pthread_mutex_t *mutex, int type, int robust)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutexattr_setrobust(&attr, robust);
	SAY(pthread_mutex_init(mutex, &attr));
	pthread_mutexattr_destroy(&attr);
}

/* scenario recursive: pthread_mutex_init pthread_mutex_destroy
 * says: 0 0 0 EBUSY 0 0 0
 * events: T1 acq(m) acq(m) fork(T2) join(T2) rel(m) rel(m)
 */
static void recursive(void)
{
	init_as(&m, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED);
	SAY(pthread_mutex_lock(&m));
	SAY(pthread_mutex_lock(&m));
	elsewhere(try_m);
	SAY(pthread_mutex_unlock(&m));
	SAY(pthread_mutex_unlock(&m));
	SAY(pthread_mutex_destroy(&m));
}

static void *unlock_m(void *unused)
{
	SAY(pthread_mutex_unlock(&m));
	return unused;
}

/* scenario errors: pthread_mutex_lock pthread_mutex_unlock
 * says: 0 0 EDEADLK EPERM 0 EPERM
 * strays: 2
 * events: T1 acq(m) fork(T2) join(T2) rel(m)
 */
static void errors(void)
{
	init_as(&m, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
	SAY(pthread_mutex_lock(&m));
	SAY(pthread_mutex_lock(&m));
	elsewhere(unlock_m);
	SAY(pthread_mutex_unlock(&m));
	SAY(pthread_mutex_unlock(&m));
}

static void *lock_and_end(void *unused)
{
	pthread_mutex_lock(&m);
	pthread_mutex_lock(&n);
	return unused;
}

/* scenario owner_died: pthread_mutex_lock pthread_mutex_trylock
 * says: 0 0 EOWNERDEAD 0 EOWNERDEAD 0 0 ENOTRECOVERABLE
 * events: T1 fork(T2) T2 acq(m) acq(n) rel(n) rel(m) T1 join(T2) acq(m) acq(n) rel(m) rel(n)
 */
static void owner_died(void)
{
	init_as(&m, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
	init_as(&n, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
	elsewhere(lock_and_end);
	SAY(pthread_mutex_lock(&m));
	SAY(pthread_mutex_consistent(&m));
	SAY(pthread_mutex_trylock(&n));
	SAY(pthread_mutex_unlock(&m));
	SAY(pthread_mutex_unlock(&n));
	SAY(pthread_mutex_lock(&n));
}

/* scenario two_lives: pthread_mutex_init pthread_mutex_destroy
 * says: 0 0 0 0 0 0
 * events: T1 acq(first) rel(first) acq(second) rel(second)
 */
static void two_lives(void)
{
	SAY(pthread_mutex_init(&m, NULL));
	pthread_mutex_lock(&m);
	SAY(pthread_mutex_unlock(&m));
	SAY(pthread_mutex_destroy(&m));
	SAY(pthread_mutex_init(&m, NULL));
	pthread_mutex_lock(&m);
	SAY(pthread_mutex_unlock(&m));
	SAY(pthread_mutex_destroy(&m));
}

/* scenario destroy_busy: pthread_mutex_destroy
 * says: EBUSY
 * events: T1 acq(m) rel(m)
 */
static void destroy_busy(void)
{
	pthread_mutex_lock(&m);
	SAY(pthread_mutex_destroy(&m));
	pthread_mutex_unlock(&m);
}

/* scenario old_names: __pthread_mutex_init __pthread_mutex_lock __pthread_mutex_trylock __pthread_mutex_unlock
 *   __pthread_mutex_destroy
 * says: 0 0 EBUSY 0 0 0 0
 * events: T1 acq(m) rel(m) acq(m) rel(m)
 */
static void old_names(void)
{
	SAY(__pthread_mutex_init(&m, NULL));
	SAY(__pthread_mutex_lock(&m));
	SAY(__pthread_mutex_trylock(&m));
	SAY(__pthread_mutex_unlock(&m));
	SAY(__pthread_mutex_trylock(&m));
	SAY(__pthread_mutex_unlock(&m));
	SAY(__pthread_mutex_destroy(&m));
}
