/* SPDX-License-Identifier: MIT */
/* A queue of one place between two producers and two consumers; then a broadcast. */
#include <pthread.h>
#include <stdio.h>

enum { EACH = 10 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t full = PTHREAD_COND_INITIALIZER, empty = PTHREAD_COND_INITIALIZER, start = PTHREAD_COND_INITIALIZER;
static int place, sum, started;

static void wait_for_start(void)
{
	pthread_mutex_lock(&m);
	while (!started)
		pthread_cond_wait(&start, &m);
	pthread_mutex_unlock(&m);
}

static void *produce(void *unused)
{
	wait_for_start();
	for (int i = 1; i <= EACH; i++) {
		pthread_mutex_lock(&m);
		while (place)
			pthread_cond_wait(&empty, &m);
		place = i;
		pthread_cond_signal(&full);
		pthread_mutex_unlock(&m);
	}
	return unused;
}

static void *consume(void *unused)
{
	wait_for_start();
	for (int i = 0; i < EACH; i++) {
		pthread_mutex_lock(&m);
		while (!place)
			pthread_cond_wait(&full, &m);
		sum += place;
		place = 0;
		pthread_cond_signal(&empty);
		pthread_mutex_unlock(&m);
	}
	return unused;
}

int main(void)
{
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, i % 2 ? consume : produce, NULL);
	pthread_mutex_lock(&m);
	started = 1;
	pthread_cond_broadcast(&start);
	pthread_mutex_unlock(&m);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	printf("%d\n", sum);
	return 0;
}
