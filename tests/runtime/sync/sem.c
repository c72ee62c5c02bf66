/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <semaphore.h>
#include <unistd.h>

#include "scenario.h"

static sem_t s;

/* scenario count: sem_init sem_wait sem_trywait sem_post sem_destroy
 * says: 0 0 0 EAGAIN 0 0 0 0 0
 * events: T1 sem_wait(first) sem_wait(first) sem_post(first) sem_wait(first) sem_post(second)
 */
static void count(void)
{
	SAY_ERRNO(sem_init(&s, 0, 2));
	SAY_ERRNO(sem_wait(&s));
	SAY_ERRNO(sem_trywait(&s));
	SAY_ERRNO(sem_trywait(&s));
	SAY_ERRNO(sem_post(&s));
	SAY_ERRNO(sem_wait(&s));
	SAY_ERRNO(sem_destroy(&s));
	SAY_ERRNO(sem_init(&s, 0, 0));
	SAY_ERRNO(sem_post(&s));
}

/* scenario limits: sem_init sem_timedwait sem_clockwait
 * says: EINVAL 0 0 0 ETIMEDOUT ETIMEDOUT EINVAL EINVAL
 * events: T1 sem_wait(s) sem_wait(s)
 */
static void limits(void)
{
	struct timespec real = soon_on(CLOCK_REALTIME), steady = soon_on(CLOCK_MONOTONIC), wrong = never();

	SAY_ERRNO(sem_init(&s, 0, 0x80000000u));
	SAY_ERRNO(sem_init(&s, 0, 2));
	SAY_ERRNO(sem_timedwait(&s, &real));
	SAY_ERRNO(sem_clockwait(&s, CLOCK_MONOTONIC, &steady));
	SAY_ERRNO(sem_timedwait(&s, &real));
	SAY_ERRNO(sem_clockwait(&s, CLOCK_MONOTONIC, &steady));
	SAY_ERRNO(sem_timedwait(&s, &wrong));
	SAY_ERRNO(sem_clockwait(&s, CLOCK_PROCESS_CPUTIME_ID, &steady));
}

static void *post_s(void *unused)
{
	sem_post(&s);
	return unused;
}

/* scenario waits: sem_wait sem_post
 * says: 0
 * each: T1 fork(T2) sem_wait(s) join(T2) T2 sem_post(s)
 */
static void waits(void)
{
	pthread_t t;

	sem_init(&s, 0, 0);
	pthread_create(&t, NULL, post_s, NULL);
	SAY_ERRNO(sem_wait(&s));
	pthread_join(t, NULL);
}

static void *wait_s(void *unused)
{
	sem_wait(&s);
	return unused;
}

/* scenario cancelled: sem_wait
 * says: 0 cancelled 0
 * events: T1 fork(T2) join(T2) sem_post(s)
 */
static void cancelled(void)
{
	pthread_t t;
	void *value;

	sem_init(&s, 0, 0);
	pthread_create(&t, NULL, wait_s, NULL);
	SAY(pthread_cancel(t));
	pthread_join(t, &value);
	say_text(value == PTHREAD_CANCELED ? "cancelled" : "returned");
	SAY_ERRNO(sem_post(&s));
}

/* scenario named: sem_open sem_close
 * says: ENOENT same 0 0 0 0 0 0
 * events: T1 sem_post(first) sem_wait(first) sem_post(second)
 */
static void named(void)
{
	char name[64];
	sem_t *one, *two;

	snprintf(name, sizeof name, "/fission-test-%ld", (long)getpid());
	SAY_ERRNO(sem_open(name, 0) == SEM_FAILED ? -1 : 0);
	one = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
	two = sem_open(name, 0);
	say_text(one != SEM_FAILED && one == two ? "same" : "different");
	SAY_ERRNO(sem_post(one));
	SAY_ERRNO(sem_close(one));
	SAY_ERRNO(sem_wait(two));
	SAY_ERRNO(sem_close(two));
	two = sem_open(name, O_CREAT, 0600, 0);
	SAY_ERRNO(sem_unlink(name));
	SAY_ERRNO(sem_post(two));
}
