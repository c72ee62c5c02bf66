/* SPDX-License-Identifier: MIT */
/* A counter without a lock: what is printed depends on the order. */
#include <pthread.h>
#include <stdio.h>

static volatile int counter;

static void *run(void *unused)
{
	for (int i = 0; i < 5; i++)
		counter++;
	return unused;
}

int main(void)
{
	pthread_t thread[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, run, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	printf("%d\n", counter);
	return 0;
}
