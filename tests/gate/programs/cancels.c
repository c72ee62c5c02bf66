/* SPDX-License-Identifier: MIT */
/* Cancellation at a condition, a semaphore, a sleep, a read, a join; and of one that does not want it. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s, ready;
static int ends[2];

static void unlock(void *unused)
{
	(void)unused;
	pthread_mutex_unlock(&m);
}

static void *at_condition(void *unused)
{
	pthread_mutex_lock(&m);
	pthread_cleanup_push(unlock, NULL);
	sem_post(&ready);
	for (;;)
		pthread_cond_wait(&c, &m);
	pthread_cleanup_pop(1);
	return unused;
}

static void *at_semaphore(void *unused)
{
	sem_post(&ready);
	sem_wait(&s);
	return unused;
}

static void *at_sleep(void *unused)
{
	sem_post(&ready);
	for (;;)
		sleep(1000);
	return unused;
}

static void *at_read(void *unused)
{
	char byte;

	sem_post(&ready);
	return read(ends[0], &byte, 1) == 1 ? NULL : unused;
}

static void *at_pause(void *unused)
{
	sem_post(&ready);
	pause();
	return unused;
}

static void *unwilling(void *unused)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	sem_post(&ready);
	sem_wait(&s);
	return unused;
}

int main(void)
{
	void *(*const what[])(void *) = {at_condition, at_semaphore, at_sleep, at_read, at_pause, unwilling};
	pthread_t thread[6];

	if (pipe(ends) != 0)
		return 1;
	sem_init(&s, 0, 0);
	sem_init(&ready, 0, 0);
	for (int i = 0; i < 6; i++) {
		void *result;

		pthread_create(&thread[i], NULL, what[i], NULL);
		sem_wait(&ready);
		pthread_cancel(thread[i]);
		if (what[i] == unwilling)
			sem_post(&s);
		pthread_join(thread[i], &result);
		printf("%d\n", result == PTHREAD_CANCELED);
	}
	printf("lock %d\n", pthread_mutex_trylock(&m));
	return 0;
}
