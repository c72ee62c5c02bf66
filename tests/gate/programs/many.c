/* SPDX-License-Identifier: MIT */
/* Two hundred threads. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 200 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *run(void *unused)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&m);
		counter++;
		pthread_mutex_unlock(&m);
	}
	return unused;
}

int main(void)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, run, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("%d\n", counter);
	return 0;
}
