/* SPDX-License-Identifier: MIT */
/* usage: turns EACH ROUNDS: two threads with memory of their own, which yield after EACH accesses. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static int each, rounds;

static void *run(void *own)
{
	volatile long *p = own;

	for (int r = 0; r < rounds; r++) {
		for (int i = 0; i < each; i++)
			*p = i;
		sched_yield();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[2];

	each = argc > 1 ? atoi(argv[1]) : 100;
	rounds = argc > 2 ? atoi(argv[2]) : 100;
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, run, calloc(1, 64));
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
