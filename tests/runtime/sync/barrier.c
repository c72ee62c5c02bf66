/* SPDX-License-Identifier: MIT */
#include "scenario.h"

static pthread_barrier_t b;

/* scenario alone: pthread_barrier_init pthread_barrier_wait pthread_barrier_destroy
 * says: EINVAL 0 serial 0 0
 * events: T1 barrier(first,1) acq(m)
 */
static void alone(void)
{
	static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

	SAY(pthread_barrier_init(&b, NULL, 0));
	SAY(pthread_barrier_init(&b, NULL, 1));
	say_text(pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD ? "serial" : "not");
	SAY(pthread_mutex_lock(&m));
	SAY(pthread_barrier_destroy(&b));
}

static int serial[2];

static void *meet(void *mine)
{
	for (int i = 0; i < 3; i++)
		*(int *)mine += pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD;
	return NULL;
}

/* scenario together: pthread_barrier_wait
 * says: 0 3 0
 * each: T1 fork(T2) barrier(b,2) barrier(b,2) barrier(b,2) join(T2) barrier(c,1) T2 barrier(b,2) barrier(b,2)
 *   barrier(b,2)
 */
static void together(void)
{
	pthread_t t;

	SAY(pthread_barrier_init(&b, NULL, 2));
	pthread_create(&t, NULL, meet, &serial[1]);
	meet(&serial[0]);
	pthread_join(t, NULL);
	say_number(serial[0] + serial[1]);
	pthread_barrier_destroy(&b);
	SAY(pthread_barrier_init(&b, NULL, 1));
	pthread_barrier_wait(&b);
}
