/* SPDX-License-Identifier: MIT */
#include <signal.h>

#include "scenario.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER, ready = PTHREAD_COND_INITIALIZER;
static int happened;

static void *signal_c(void *unused)
{
	pthread_mutex_lock(&m);
	happened = 1;
	SAY(pthread_cond_signal(&c));
	pthread_mutex_unlock(&m);
	return unused;
}

static void *broadcast_c(void *unused)
{
	pthread_mutex_lock(&m);
	happened = 1;
	SAY(pthread_cond_broadcast(&c));
	pthread_mutex_unlock(&m);
	return unused;
}

/* scenario woken: pthread_cond_wait pthread_cond_signal
 * says: 0 0
 * events: T1 acq(m) fork(T2) wait(c,m) T2 acq(m) notify(c) rel(m) T1 rel(m) join(T2)
 */
static void woken(void)
{
	pthread_t t;

	pthread_mutex_lock(&m);
	pthread_create(&t, NULL, signal_c, NULL);
	while (!happened)
		SAY(pthread_cond_wait(&c, &m));
	pthread_mutex_unlock(&m);
	pthread_join(t, NULL);
}

/* scenario woken_in_time: pthread_cond_timedwait pthread_cond_clockwait pthread_cond_broadcast
 * says: 0 0 0 0
 * events: T1 acq(m) fork(T2) wait(c,m) T2 acq(m) notify_all(c) rel(m) T1 rel(m) join(T2) acq(m) fork(T3) wait(c,m)
 *   T3 acq(m) notify_all(c) rel(m) T1 rel(m) join(T3)
 */
static void woken_in_time(void)
{
	struct timespec real = late_on(CLOCK_REALTIME), steady = late_on(CLOCK_MONOTONIC);
	pthread_t t;

	pthread_mutex_lock(&m);
	pthread_create(&t, NULL, broadcast_c, NULL);
	while (!happened)
		SAY(pthread_cond_timedwait(&c, &m, &real));
	pthread_mutex_unlock(&m);
	pthread_join(t, NULL);

	pthread_mutex_lock(&m);
	happened = 0;
	pthread_create(&t, NULL, broadcast_c, NULL);
	while (!happened)
		SAY(pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &steady));
	pthread_mutex_unlock(&m);
	pthread_join(t, NULL);
}

/* scenario timed_out: pthread_cond_timedwait pthread_cond_clockwait
 * says: ETIMEDOUT ETIMEDOUT 0
 * events: T1 acq(m) wait(c,m) wait(c,m) rel(m)
 */
static void timed_out(void)
{
	struct timespec real = soon_on(CLOCK_REALTIME), steady = soon_on(CLOCK_MONOTONIC);

	pthread_mutex_lock(&m);
	SAY(pthread_cond_timedwait(&c, &m, &real));
	SAY(pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &steady));
	SAY(pthread_mutex_unlock(&m));
}

/* scenario refused: pthread_cond_timedwait pthread_cond_clockwait
 * says: EINVAL EINVAL 0
 * events: T1 acq(m) rel(m)
 */
static void refused(void)
{
	struct timespec wrong = never();

	pthread_mutex_lock(&m);
	SAY(pthread_cond_timedwait(&c, &m, &wrong));
	SAY(pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &wrong));
	SAY(pthread_mutex_unlock(&m));
}

static void cleaned(void *mutex)
{
	say_text("cleaned");
	SAY(pthread_mutex_unlock(mutex));
}

/* How the thread waits that is to be cancelled. */
static int timed;

static void *wait_for_ever(void *unused)
{
	struct timespec late = late_on(CLOCK_REALTIME);

	pthread_mutex_lock(&m);
	pthread_cleanup_push(cleaned, &m);
	happened = 1;
	pthread_cond_signal(&ready);
	for (;;)
		if (timed)
			pthread_cond_timedwait(&c, &m, &late);
		else
			pthread_cond_wait(&c, &m);
	pthread_cleanup_pop(0);
	return unused;
}

static void cancel_waiter(void)
{
	pthread_t t;
	void *value;

	pthread_mutex_lock(&m);
	happened = 0;
	pthread_create(&t, NULL, wait_for_ever, NULL);
	while (!happened)
		pthread_cond_wait(&ready, &m);
	SAY(pthread_cancel(t));
	pthread_mutex_unlock(&m);
	pthread_join(t, &value);
	say_text(value == PTHREAD_CANCELED ? "cancelled" : "returned");
}

/* scenario cancelled: pthread_cond_wait
 * says: 0 cleaned 0 cancelled
 * events: T1 acq(m) fork(T2) wait(ready,m) T2 acq(m) notify(ready) wait(c,m) T1 rel(m) T2 rel(m) T1 join(T2)
 */
static void cancelled(void)
{
	cancel_waiter();
}

/* scenario cancelled_timed: pthread_cond_timedwait
 * says: 0 cleaned 0 cancelled
 * events: T1 acq(m) fork(T2) wait(ready,m) T2 acq(m) notify(ready) wait(c,m) T1 rel(m) T2 rel(m) T1 join(T2)
 */
static void cancelled_timed(void)
{
	timed = 1;
	cancel_waiter();
}

/* scenario lives: pthread_cond_init pthread_cond_destroy
 * says: 0 0 0
 * events: T1 notify(first) notify_all(second)
 */
static void lives(void)
{
	SAY(pthread_cond_init(&c, NULL));
	pthread_cond_signal(&c);
	SAY(pthread_cond_destroy(&c));
	SAY(pthread_cond_init(&c, NULL));
	pthread_cond_broadcast(&c);
}

static volatile sig_atomic_t handled;
static pthread_t waiter;

static void handler(int signal)
{
	handled = signal;
}

static void *interrupt(void *unused)
{
	pthread_mutex_lock(&m);
	pthread_kill(waiter, SIGUSR1);
	while (!handled)
		sched_yield();
	happened = 1;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	return unused;
}

/* scenario interrupted: pthread_cond_wait
 * says: 0
 * unheard: 1
 * events: T1 acq(m) fork(T2) wait(c,m) T2 acq(m) notify(c) rel(m) T1 rel(m) join(T2)
 */
static void interrupted(void)
{
	pthread_t t;

	signal(SIGUSR1, handler);
	waiter = pthread_self();
	pthread_mutex_lock(&m);
	pthread_create(&t, NULL, interrupt, NULL);
	while (!happened)
		SAY(pthread_cond_wait(&c, &m));
	pthread_mutex_unlock(&m);
	pthread_join(t, NULL);
}
