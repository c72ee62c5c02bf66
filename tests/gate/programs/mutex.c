/* SPDX-License-Identifier: MIT */
/* Every sort of mutex, and what its functions return. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, recursive, checked, robust;
static int counter;

static void make(pthread_mutex_t *m, int type, int robustness)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutexattr_setrobust(&attr, robustness);
	pthread_mutex_init(m, &attr);
	pthread_mutexattr_destroy(&attr);
}

static void *add(void *unused)
{
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&plain);
		counter++;
		pthread_mutex_unlock(&plain);
		pthread_mutex_lock(&recursive);
		pthread_mutex_lock(&recursive);
		counter += 0;
		pthread_mutex_unlock(&recursive);
		pthread_mutex_unlock(&recursive);
	}
	return unused;
}

static void *try(void *unused)
{
	struct timespec soon, past = {1, 0};

	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_sec += 100;
	printf("try %d\n", pthread_mutex_trylock(&plain) == EBUSY);
	printf("past %d\n", pthread_mutex_timedlock(&plain, &past) == ETIMEDOUT);
	printf("soon %d\n", pthread_mutex_timedlock(&plain, &soon) == ETIMEDOUT);
	soon.tv_nsec = -1;
	printf("wrong %d\n", pthread_mutex_timedlock(&plain, &soon) == EINVAL);
	printf("not mine %d\n", pthread_mutex_unlock(&checked) == EPERM);
	return unused;
}

static void *die(void *unused)
{
	pthread_mutex_lock(&robust);
	return unused;
}

static void run(void *(*what)(void *), int times)
{
	pthread_t thread[4];

	for (int i = 0; i < times; i++)
		pthread_create(&thread[i], NULL, what, NULL);
	for (int i = 0; i < times; i++)
		pthread_join(thread[i], NULL);
}

int main(void)
{
	make(&recursive, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED);
	make(&checked, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
	make(&robust, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
	run(add, 4);
	printf("counter %d\n", counter);
	pthread_mutex_lock(&plain);
	pthread_mutex_lock(&checked);
	printf("twice %d\n", pthread_mutex_lock(&checked) == EDEADLK);
	run(try, 1);
	pthread_mutex_unlock(&checked);
	pthread_mutex_unlock(&plain);
	run(die, 1);
	printf("owner died %d\n", pthread_mutex_lock(&robust) == EOWNERDEAD);
	printf("consistent %d\n", pthread_mutex_consistent(&robust));
	printf("unlock %d\n", pthread_mutex_unlock(&robust));
	printf("destroy %d\n", pthread_mutex_destroy(&recursive));
	return 0;
}
