/* SPDX-License-Identifier: MIT */
/* Values that go through other threads: by memory, by atomics, by a lock, by results; and a child. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fission.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int queue[8], filled;
static atomic_int counter;
static _Atomic(int *) published;
static int seen;

static void *produce(void *at)
{
	int x = *(int *)at;

	for (int i = 0; i < 4; i++) {
		pthread_mutex_lock(&mutex);
		queue[filled++] = x + i;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&mutex);
		atomic_fetch_add(&counter, x);
	}
	atomic_store(&published, queue);
	return (void *)(intptr_t)(x * 2);
}

static void *consume(void *at)
{
	int taken = 0, expected = 1;

	(void)at;
	while (taken < 4) {
		pthread_mutex_lock(&mutex);
		while (filled <= taken)
			pthread_cond_wait(&changed, &mutex);
		seen += queue[taken++];
		pthread_mutex_unlock(&mutex);
	}
	atomic_compare_exchange_strong(&counter, &expected, 7);
	return NULL;
}

int main(void)
{
	int x = 11, status = 0;
	pthread_t one, two;
	void *result;

	fission_input(&x, sizeof x, "x");
	pthread_create(&one, NULL, produce, &x);
	pthread_create(&two, NULL, consume, NULL);
	pthread_join(one, &result);
	pthread_join(two, NULL);
	printf("%d %d %d %d\n", seen, atomic_load(&counter), (int)(intptr_t)result, *atomic_load(&published) == x);
	fflush(stdout);
	if (!fork())
		_exit(x == 11 ? 5 : 6);
	wait(&status);
	return WEXITSTATUS(status);
}
