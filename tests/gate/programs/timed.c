/* SPDX-License-Identifier: MIT */
/* Waits with time limits: nobody comes, so they all end by them; a sleep is none. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static sem_t s;
static int came;

static struct timespec in(long seconds)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += seconds;
	return t;
}

static void *others(void *unused)
{
	struct timespec limit = in(50);

	printf("rwlock %d\n", pthread_rwlock_timedwrlock(&l, &limit) == ETIMEDOUT);
	sleep(30);
	pthread_mutex_lock(&m);
	came = 1;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	return unused;
}

int main(void)
{
	struct timespec limit = in(60);
	pthread_t thread;
	int result = 0;

	sem_init(&s, 0, 0);
	printf("semaphore %d\n", sem_timedwait(&s, &limit) == -1 && errno == ETIMEDOUT);
	pthread_mutex_lock(&m);
	limit = in(40);
	printf("condition %d\n", pthread_cond_timedwait(&c, &m, &limit) == ETIMEDOUT);
	pthread_rwlock_rdlock(&l);
	pthread_create(&thread, NULL, others, NULL);
	limit = in(1000);
	while (!came && !result)
		result = pthread_cond_timedwait(&c, &m, &limit);
	printf("came %d %d\n", came, result);
	pthread_mutex_unlock(&m);
	pthread_join(thread, NULL);
	return 0;
}
