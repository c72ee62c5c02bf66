/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

#include "scenario.h"

enum { MANY = 4500, STACK = 1 << 18 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int happened;

static void *give_back(void *argument)
{
	return argument;
}

static void *lock_m(void *argument)
{
	pthread_mutex_lock(&m);
	happened = 1;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	return argument;
}

static void await(void)
{
	while (!happened)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
}

static void say_value(void *value)
{
	say_text(value == &m ? "m" : value == PTHREAD_CANCELED ? "cancelled" : "other");
}

/* scenario create: pthread_create pthread_join
 * says: 0 0 m 0 0 m EDEADLK
 * events: T1 fork(T2) join(T2) fork(T3) join(T3)
 */
static void create(void)
{
	pthread_t t;
	void *value;

	SAY(pthread_create(&t, NULL, give_back, &m));
	SAY(pthread_join(t, &value));
	say_value(value);
	SAY(pthread_create(&t, NULL, give_back, &m));
	SAY(pthread_join(t, &value));
	say_value(value);
	SAY(pthread_join(pthread_self(), &value));
}

/* scenario no_room: pthread_create
 * says: EAGAIN 0 0
 * events: T1 fork(T2) join(T2)
 */
static void no_room(void)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)1 << 47);
	errno = UNTOUCHED;
	say_error(pthread_create(&t, &attr, give_back, NULL));
	SAY(pthread_create(&t, NULL, give_back, NULL));
	SAY(pthread_join(t, NULL));
}

/* scenario joins: pthread_tryjoin_np pthread_timedjoin_np pthread_clockjoin_np
 * says: EBUSY ETIMEDOUT ETIMEDOUT 0 m 0 m 0
 * events: T1 acq(m) fork(T2) rel(m) T2 acq(m) notify(c) rel(m) T1 join(T2) fork(T3) join(T3) fork(T4) join(T4)
 */
static void joins(void)
{
	struct timespec real = soon_on(CLOCK_REALTIME), steady = soon_on(CLOCK_MONOTONIC);
	pthread_t t;
	void *value;

	pthread_mutex_lock(&m);
	pthread_create(&t, NULL, lock_m, &m);
	SAY(pthread_tryjoin_np(t, &value));
	SAY(pthread_timedjoin_np(t, &value, &real));
	SAY(pthread_clockjoin_np(t, &value, CLOCK_MONOTONIC, &steady));
	pthread_mutex_unlock(&m);
	real = late_on(CLOCK_REALTIME);
	SAY(pthread_timedjoin_np(t, &value, &real));
	say_value(value);
	pthread_create(&t, NULL, give_back, &m);
	steady = late_on(CLOCK_MONOTONIC);
	SAY(pthread_clockjoin_np(t, &value, CLOCK_MONOTONIC, &steady));
	say_value(value);
	pthread_create(&t, NULL, give_back, &m);
	while (pthread_tryjoin_np(t, &value) == EBUSY)
		sched_yield();
	say_error(value != &m);
}

static void *leave(void *argument)
{
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	pthread_exit(argument);
}

/* scenario exits: pthread_exit
 * says: 0 m
 * events: T1 fork(T2) T2 acq(m) rel(m) T1 join(T2) acq(m)
 */
static void exits(void)
{
	pthread_t t;
	void *value;

	pthread_create(&t, NULL, leave, &m);
	SAY(pthread_join(t, &value));
	say_value(value);
	pthread_mutex_lock(&m);
}

static void *for_ever(void *unused)
{
	for (;;)
		pthread_testcancel();
	return unused;
}

/* scenario cancels: pthread_cancel pthread_join
 * says: 0 0 cancelled
 * events: T1 fork(T2) join(T2)
 */
static void cancels(void)
{
	pthread_t t;
	void *value;

	pthread_create(&t, NULL, for_ever, NULL);
	SAY(pthread_cancel(t));
	SAY(pthread_join(t, &value));
	say_value(value);
}

static pthread_t forever;

static void *join_forever(void *unused)
{
	pthread_join(forever, NULL);
	return unused;
}

/* scenario join_cancelled: pthread_join
 * says: 0 cancelled 0 0
 * events: T1 fork(T2) fork(T3) join(T3) join(T2)
 */
static void join_cancelled(void)
{
	pthread_t t;
	void *value;

	pthread_create(&forever, NULL, for_ever, NULL);
	pthread_create(&t, NULL, join_forever, NULL);
	pthread_cancel(t);
	SAY(pthread_join(t, &value));
	say_value(value);
	SAY(pthread_cancel(forever));
	SAY(pthread_join(forever, NULL));
}

/* scenario detaches: pthread_detach
 * says: 0 EINVAL EINVAL
 * events: T1 acq(m) fork(T2) wait(c,m) T2 acq(m) notify(c) rel(m) T1 rel(m)
 */
static void detaches(void)
{
	pthread_t t;

	pthread_mutex_lock(&m);
	pthread_create(&t, NULL, lock_m, NULL);
	SAY(pthread_detach(t));
	SAY(pthread_detach(t));
	SAY(pthread_join(t, NULL));
	await();
}

/* scenario own_stack: pthread_create
 * says: 0 0 m
 * events: T1 fork(T2) T2 acq(m) notify(c) rel(m) T1 join(T2)
 */
static void own_stack(void)
{
	void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *value;
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, STACK);
	SAY(pthread_create(&t, &attr, lock_m, &m));
	SAY(pthread_join(t, &value));
	say_value(value);
}

/* scenario born_detached: pthread_create
 * says: 0
 * events: T1 acq(m) fork(T2) wait(c,m) T2 acq(m) notify(c) rel(m) T1 rel(m)
 */
static void born_detached(void)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_mutex_lock(&m);
	SAY(pthread_create(&t, &attr, lock_m, NULL));
	await();
}

static pthread_t main_thread;

static void *join_main(void *unused)
{
	SAY(pthread_join(main_thread, NULL));
	puts("");
	return unused;
}

/* scenario main_exits: pthread_exit pthread_join
 * says: 0
 * events: T1 fork(T2) T2 join(T1)
 */
static void main_exits(void)
{
	pthread_t t;

	main_thread = pthread_self();
	pthread_create(&t, NULL, join_main, NULL);
	pthread_exit(NULL);
}

static pthread_key_t key;

static void destroy(void *rounds)
{
	say_text("destroyed");
	pthread_mutex_lock(&m);
	if ((uintptr_t)rounds > 1)
		pthread_setspecific(key, (void *)((uintptr_t)rounds - 1));
	pthread_mutex_unlock(&m);
}

static void *use_key(void *unused)
{
	SAY(pthread_setspecific(key, (void *)(uintptr_t)(PTHREAD_DESTRUCTOR_ITERATIONS - 1)));
	return unused;
}

/* scenario destructors: pthread_create
 * says: 0 0 destroyed destroyed destroyed
 * events: T1 fork(T2) T2 acq(m) rel(m) acq(m) rel(m) acq(m) rel(m) T1 join(T2) acq(m)
 */
static void destructors(void)
{
	SAY(pthread_key_create(&key, destroy));
	elsewhere(use_key);
	pthread_mutex_lock(&m);
}

static sem_t gone;

static void *be_gone(void *unused)
{
	pthread_detach(pthread_self());
	sem_post(&gone);
	return unused;
}

/* More threads than there are rings: each must give its own back, whichever way it ends. */
static void one_of_many(int i)
{
	void *(*const way[])(void *) = {give_back, leave, for_ever, be_gone};
	pthread_t t;

	if (pthread_create(&t, NULL, way[i % 4], NULL) != 0)
		abort();
	if (way[i % 4] == for_ever)
		pthread_cancel(t);
	if (way[i % 4] == be_gone)
		sem_wait(&gone);
	else if (pthread_join(t, NULL) != 0)
		abort();
}

/* scenario many: pthread_create pthread_join pthread_exit pthread_cancel pthread_detach
 * says: 4500
 * counts: fork 4500 join 3375 acq 1125 rel 1125 sem_post 1125
 */
static void many(void)
{
	sem_init(&gone, 0, 0);
	for (int i = 0; i < MANY; i++)
		one_of_many(i);
	say_number(MANY);
}

static void expired(union sigval unused)
{
	(void)unused;
	pthread_mutex_lock(&m);
	happened = 1;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
}

/* A thread that the C library makes without asking us has a number, and no fork. */

/* scenario made_by_libc: pthread_cond_wait
 * says: 0 0
 * events: T1 acq(m) wait(c,m) T2 acq(m) notify(c) rel(m) T1 rel(m)
 */
static void made_by_libc(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = expired};
	struct itimerspec at_once = {.it_value.tv_nsec = 1};
	timer_t timer;

	pthread_mutex_lock(&m);
	SAY(timer_create(CLOCK_MONOTONIC, &event, &timer));
	SAY(timer_settime(timer, 0, &at_once, NULL));
	while (!happened)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
}

/* What lets time or others pass is no event. */

/* scenario yields: pthread_yield sched_yield thrd_yield thrd_sleep nanosleep
 * says: 0 0 0
 * events: T1 acq(m) rel(m)
 */
static void yields(void)
{
	struct timespec none = {0, 1};

	pthread_mutex_lock(&m);
	SAY(sched_yield());
	thrd_yield();
	SAY(thrd_sleep(&none, NULL));
	SAY(nanosleep(&none, NULL));
	pthread_mutex_unlock(&m);
}
