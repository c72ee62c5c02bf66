/* SPDX-License-Identifier: MIT */
/* Joins of every sort, detached threads, pthread_exit. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

static sem_t go, gone;

static void *value(void *argument)
{
	sem_wait(&go);
	return argument;
}

static void *leave(void *argument)
{
	pthread_exit(argument);
}

static void *detached(void *unused)
{
	pthread_detach(pthread_self());
	sem_post(&gone);
	return unused;
}

int main(void)
{
	pthread_t first, second, third;
	struct timespec soon;
	void *result = NULL;

	sem_init(&go, 0, 0);
	sem_init(&gone, 0, 0);
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_sec += 20;
	pthread_create(&first, NULL, value, &go);
	printf("busy %d\n", pthread_tryjoin_np(first, &result) == EBUSY);
	printf("timed %d\n", pthread_timedjoin_np(first, &result, &soon) == ETIMEDOUT);
	sem_post(&go);
	printf("join %d", pthread_join(first, &result));
	printf(" %d\n", result == &go);
	pthread_create(&second, NULL, leave, &gone);
	printf("join %d", pthread_join(second, &result));
	printf(" %d\n", result == &gone);
	printf("self %d\n", pthread_join(pthread_self(), NULL) == EDEADLK);
	pthread_create(&third, NULL, detached, NULL);
	sem_wait(&gone);
	return 0;
}
