/* SPDX-License-Identifier: MIT */
#include "scenario.h"

static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;

int __pthread_rwlock_rdlock(pthread_rwlock_t *);
int __pthread_rwlock_tryrdlock(pthread_rwlock_t *);
int __pthread_rwlock_wrlock(pthread_rwlock_t *);
int __pthread_rwlock_trywrlock(pthread_rwlock_t *);
int __pthread_rwlock_unlock(pthread_rwlock_t *);
int __pthread_rwlock_init(pthread_rwlock_t *, const pthread_rwlockattr_t *);
int __pthread_rwlock_destroy(pthread_rwlock_t *);

/* scenario both_sides: pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_rwlock_unlock
 * says: 0 0 0 0
 * events: T1 acq_shared(l) rel(l) acq(l) rel(l)
 */
static void both_sides(void)
{
	SAY(pthread_rwlock_rdlock(&l));
	SAY(pthread_rwlock_unlock(&l));
	SAY(pthread_rwlock_wrlock(&l));
	SAY(pthread_rwlock_unlock(&l));
}

static void *read_again(void *unused)
{
	struct timespec real = soon_on(CLOCK_REALTIME), steady = soon_on(CLOCK_MONOTONIC);

	SAY(pthread_rwlock_tryrdlock(&l));
	SAY(pthread_rwlock_trywrlock(&l));
	SAY(pthread_rwlock_unlock(&l));
	SAY(pthread_rwlock_trywrlock(&l));
	SAY(pthread_rwlock_timedwrlock(&l, &real));
	SAY(pthread_rwlock_clockwrlock(&l, CLOCK_MONOTONIC, &steady));
	return unused;
}

/* scenario two_readers: pthread_rwlock_tryrdlock pthread_rwlock_trywrlock pthread_rwlock_timedwrlock
 *   pthread_rwlock_clockwrlock
 * says: 0 EBUSY 0 EBUSY ETIMEDOUT ETIMEDOUT
 * events: T1 acq_shared(l) fork(T2) T2 acq_shared(l) rel(l) T1 join(T2) rel(l)
 */
static void two_readers(void)
{
	pthread_rwlock_rdlock(&l);
	elsewhere(read_again);
	pthread_rwlock_unlock(&l);
}

static void *kept_out(void *unused)
{
	struct timespec real = soon_on(CLOCK_REALTIME), steady = soon_on(CLOCK_MONOTONIC), wrong = never();

	SAY(pthread_rwlock_tryrdlock(&l));
	SAY(pthread_rwlock_timedrdlock(&l, &real));
	SAY(pthread_rwlock_clockrdlock(&l, CLOCK_MONOTONIC, &steady));
	SAY(pthread_rwlock_timedrdlock(&l, &wrong));
	SAY(pthread_rwlock_clockrdlock(&l, CLOCK_PROCESS_CPUTIME_ID, &steady));
	return unused;
}

/* scenario writer_alone: pthread_rwlock_tryrdlock pthread_rwlock_timedrdlock pthread_rwlock_clockrdlock
 * says: 0 EBUSY ETIMEDOUT ETIMEDOUT EINVAL EINVAL 0
 * events: T1 acq(l) fork(T2) join(T2) rel(l)
 */
static void writer_alone(void)
{
	SAY(pthread_rwlock_trywrlock(&l));
	elsewhere(kept_out);
	SAY(pthread_rwlock_unlock(&l));
}

/* scenario in_time: pthread_rwlock_timedrdlock pthread_rwlock_clockrdlock pthread_rwlock_timedwrlock
 *   pthread_rwlock_clockwrlock
 * says: 0 0 0 0
 * events: T1 acq_shared(l) rel(l) acq_shared(l) rel(l) acq(l) rel(l) acq(l) rel(l)
 */
static void in_time(void)
{
	struct timespec real = late_on(CLOCK_REALTIME), steady = late_on(CLOCK_MONOTONIC);

	SAY(pthread_rwlock_timedrdlock(&l, &real));
	pthread_rwlock_unlock(&l);
	SAY(pthread_rwlock_clockrdlock(&l, CLOCK_MONOTONIC, &steady));
	pthread_rwlock_unlock(&l);
	SAY(pthread_rwlock_timedwrlock(&l, &real));
	pthread_rwlock_unlock(&l);
	SAY(pthread_rwlock_clockwrlock(&l, CLOCK_MONOTONIC, &steady));
	pthread_rwlock_unlock(&l);
}

/* scenario read_twice: pthread_rwlock_rdlock
 * says: 0 0 EDEADLK 0
 * events: T1 acq_shared(l) acq_shared(l) rel(l) rel(l) acq(l) rel(l)
 */
static void read_twice(void)
{
	SAY(pthread_rwlock_rdlock(&l));
	SAY(pthread_rwlock_rdlock(&l));
	pthread_rwlock_unlock(&l);
	pthread_rwlock_unlock(&l);
	pthread_rwlock_wrlock(&l);
	SAY(pthread_rwlock_rdlock(&l));
	SAY(pthread_rwlock_unlock(&l));
}

/* scenario lives: pthread_rwlock_init pthread_rwlock_destroy
 * says: 0 0 0 0
 * events: T1 acq(first) rel(first) acq_shared(second) rel(second)
 */
static void lives(void)
{
	SAY(pthread_rwlock_init(&l, NULL));
	pthread_rwlock_wrlock(&l);
	pthread_rwlock_unlock(&l);
	SAY(pthread_rwlock_destroy(&l));
	SAY(pthread_rwlock_init(&l, NULL));
	pthread_rwlock_rdlock(&l);
	pthread_rwlock_unlock(&l);
	SAY(pthread_rwlock_destroy(&l));
}

/* scenario old_names: __pthread_rwlock_init __pthread_rwlock_rdlock __pthread_rwlock_tryrdlock
 *   __pthread_rwlock_wrlock __pthread_rwlock_trywrlock __pthread_rwlock_unlock __pthread_rwlock_destroy
 * says: 0 0 0 EBUSY 0 0 0 0 0 0 0
 * events: T1 acq_shared(l) acq_shared(l) rel(l) rel(l) acq(l) rel(l) acq(l) rel(l)
 */
static void old_names(void)
{
	SAY(__pthread_rwlock_init(&l, NULL));
	SAY(__pthread_rwlock_rdlock(&l));
	SAY(__pthread_rwlock_tryrdlock(&l));
	SAY(__pthread_rwlock_trywrlock(&l));
	SAY(__pthread_rwlock_unlock(&l));
	SAY(__pthread_rwlock_unlock(&l));
	SAY(__pthread_rwlock_wrlock(&l));
	SAY(__pthread_rwlock_unlock(&l));
	SAY(__pthread_rwlock_trywrlock(&l));
	SAY(__pthread_rwlock_unlock(&l));
	SAY(__pthread_rwlock_destroy(&l));
}
