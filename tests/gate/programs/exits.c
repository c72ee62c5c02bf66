/* SPDX-License-Identifier: MIT */
/* The program ends in another thread than the first, while others sleep; handlers of its end take locks. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, never = PTHREAD_MUTEX_INITIALIZER;

static void last(void)
{
	pthread_mutex_lock(&m);
	puts("last");
	pthread_mutex_unlock(&m);
}

static void *wait_long(void *unused)
{
	pthread_mutex_lock(&never);
	return unused;
}

static void *leave(void *unused)
{
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	exit(5);
	return unused;
}

int main(void)
{
	pthread_t thread[3];

	atexit(last);
	pthread_mutex_lock(&never);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, i == 1 ? leave : wait_long, NULL);
	pthread_join(thread[0], NULL);
	return 0;
}
