/* SPDX-License-Identifier: MIT */
/* Semaphores as tokens: three at a time. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static sem_t tokens, done;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int inside, most;

static void *run(void *unused)
{
	for (int i = 0; i < 5; i++) {
		sem_wait(&tokens);
		pthread_mutex_lock(&m);
		if (++inside > most)
			most = inside;
		pthread_mutex_unlock(&m);
		pthread_mutex_lock(&m);
		inside--;
		pthread_mutex_unlock(&m);
		sem_post(&tokens);
	}
	sem_post(&done);
	return unused;
}

int main(void)
{
	pthread_t thread[6];

	sem_init(&tokens, 0, 3);
	sem_init(&done, 0, 0);
	for (int i = 0; i < 6; i++)
		pthread_create(&thread[i], NULL, run, NULL);
	for (int i = 0; i < 6; i++)
		sem_wait(&done);
	printf("%d %d %d\n", most <= 3, inside, sem_trywait(&done));
	for (int i = 0; i < 6; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
