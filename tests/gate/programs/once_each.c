/* SPDX-License-Identifier: MIT */
/* Each thread adds one, once: a lost update all the same, in some order. */
#include <pthread.h>
#include <stdio.h>

static volatile int counter;

static void *run(void *unused)
{
	counter = counter + 1;
	return unused;
}

int main(void)
{
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, run, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	printf("%d\n", counter);
	return 0;
}
