/* SPDX-License-Identifier: MIT */
#include "scenario.h"

static mtx_t m;
static cnd_t c;
static int happened;

static int try_m(void *unused)
{
	struct timespec soon = soon_on(CLOCK_REALTIME);

	(void)unused;
	SAY_C11(mtx_trylock(&m));
	SAY_C11(mtx_timedlock(&m, &soon));
	return 3;
}

/* scenario mutex: mtx_init mtx_lock mtx_trylock mtx_timedlock mtx_unlock mtx_destroy thrd_create thrd_join
 * says: 0 0 busy timedout 0 0 3 0 0 0 0 0
 * events: T1 acq(first) fork(T2) join(T2) rel(first) acq(first) rel(first) acq(first) rel(first) acq(second)
 */
static void mutex(void)
{
	struct timespec late = late_on(CLOCK_REALTIME);
	int value, made;
	thrd_t t;

	SAY_C11(mtx_init(&m, mtx_timed));
	SAY_C11(mtx_lock(&m));
	made = thrd_create(&t, try_m, NULL);
	SAY_C11(thrd_join(t, &value));
	SAY_C11(made);
	say_number(value);
	SAY_C11(mtx_unlock(&m));
	SAY_C11(mtx_trylock(&m));
	mtx_unlock(&m);
	SAY_C11(mtx_timedlock(&m, &late));
	mtx_unlock(&m);
	mtx_destroy(&m);
	SAY_C11(mtx_init(&m, mtx_plain));
	SAY_C11(mtx_lock(&m));
}

static int signal_c(void *all)
{
	mtx_lock(&m);
	happened = 1;
	SAY_C11(all ? cnd_broadcast(&c) : cnd_signal(&c));
	mtx_unlock(&m);
	return 0;
}

/* scenario condition: cnd_init cnd_wait cnd_timedwait cnd_signal cnd_broadcast cnd_destroy
 * says: 0 0 0 0 0 timedout error
 * events: T1 acq(m) fork(T2) wait(c,m) T2 acq(m) notify(c) rel(m) T1 fork(T3) wait(c,m) T3 acq(m) notify_all(c)
 *   rel(m) T1 wait(d,m) rel(m)
 */
static void condition(void)
{
	struct timespec late = late_on(CLOCK_REALTIME), soon, wrong = never();
	thrd_t t;

	mtx_init(&m, mtx_plain);
	SAY_C11(cnd_init(&c));
	mtx_lock(&m);
	thrd_create(&t, signal_c, NULL);
	while (!happened)
		SAY_C11(cnd_wait(&c, &m));
	happened = 0;
	thrd_create(&t, signal_c, &m);
	while (!happened)
		SAY_C11(cnd_timedwait(&c, &m, &late));
	cnd_destroy(&c);
	cnd_init(&c);
	soon = soon_on(CLOCK_REALTIME);
	SAY_C11(cnd_timedwait(&c, &m, &soon));
	SAY_C11(cnd_timedwait(&c, &m, &wrong));
	mtx_unlock(&m);
}

static int leave(void *unused)
{
	(void)unused;
	thrd_exit(-4);
}

/* scenario leaves: thrd_exit thrd_join
 * says: 0 0 -4
 * events: T1 fork(T2) join(T2)
 */
static void leaves(void)
{
	int value = 0;
	thrd_t t;

	SAY_C11(thrd_create(&t, leave, NULL));
	SAY_C11(thrd_join(t, &value));
	say_number(value);
}

static int hold(void *unused)
{
	(void)unused;
	mtx_lock(&m);
	happened = 1;
	cnd_signal(&c);
	mtx_unlock(&m);
	return 0;
}

/* scenario detached: thrd_detach
 * says: 0 0
 * events: T1 acq(m) fork(T2) wait(c,m) T2 acq(m) notify(c) rel(m) T1 rel(m)
 */
static void detached(void)
{
	thrd_t t;

	mtx_init(&m, mtx_plain);
	cnd_init(&c);
	mtx_lock(&m);
	SAY_C11(thrd_create(&t, hold, NULL));
	SAY_C11(thrd_detach(t));
	while (!happened)
		cnd_wait(&c, &m);
	mtx_unlock(&m);
}
