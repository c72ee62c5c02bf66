/* SPDX-License-Identifier: MIT */
/* Threads that end by pthread_exit and by cancellation, deferred and at any point: joined, and their functions closed. */
// ORDER: T2\|enter\(leaves\) ;; T2\|enter\(cleaned\) ;; T1\|join\(T2\)
// ORDER: T3\|enter\(waits\) ;; T3\|enter\(cleaned\) ;; T1\|join\(T3\)
// COUNT: 6 T\d+\|enter\(spins\)
// COUNT: 8 T1\|join
// COUNT: 2 enter\(key_dies\)
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_key_t key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int cleanups, deaths, started;

static void key_dies(void *p) { (void)p; deaths++; }
static void cleaned(void *p) { (void)p; cleanups++; }

static void leaves(void *p)
{
	pthread_setspecific(key, p);
	pthread_exit((void *)5);
}

static void waits(void *p)
{
	pthread_setspecific(key, p);
	for (;;)
		pause();
}

static void spins(void)
{
	static volatile int x[8];

	pthread_mutex_lock(&lock);
	started++;
	pthread_mutex_unlock(&lock);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		for (int i = 0; i < 8; i++)
			x[i]++;
}

static void *run(void *p)
{
	pthread_cleanup_push(cleaned, NULL);
	*(int *)p == 1 ? leaves(p) : *(int *)p == 2 ? waits(p) : spins();
	pthread_cleanup_pop(0);
	return NULL;
}

static void wait_for(int n)
{
	for (int seen = 0; seen < n;) {
		pthread_mutex_lock(&lock);
		seen = started;
		pthread_mutex_unlock(&lock);
	}
}

int main(void)
{
	int how[] = {1, 2, 3};
	void *result;
	pthread_t t;

	pthread_key_create(&key, key_dies);
	for (int i = 0; i < 8; i++) {
		pthread_create(&t, NULL, run, &how[i < 2 ? i : 2]);
		if (i > 1)
			wait_for(i - 1);
		if (i > 0)
			pthread_cancel(t);
		pthread_join(t, &result);
		printf("%ld %d\n", (long)result, result == PTHREAD_CANCELED);
	}
	printf("%d %d\n", cleanups, deaths);
	return 0;
}
