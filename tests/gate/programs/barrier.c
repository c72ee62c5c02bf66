/* SPDX-License-Identifier: MIT */
/* Rounds: everybody has come before anybody goes on, and one of them is told so. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 5 };

static pthread_barrier_t barrier;
static int came[ROUNDS], serial[ROUNDS], wrong;

static void *run(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		__atomic_fetch_add(&came[i], 1, __ATOMIC_SEQ_CST);
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			__atomic_fetch_add(&serial[i], 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&came[i], __ATOMIC_SEQ_CST) != THREADS)
			wrong = 1;
	}
	return unused;
}

int main(void)
{
	pthread_t thread[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, run, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < ROUNDS; i++)
		wrong |= serial[i] != 1;
	printf("%d %d\n", wrong, pthread_barrier_destroy(&barrier));
	return 0;
}
