/* SPDX-License-Identifier: MIT */
/* Two locks in both orders, with each other's first one held. */
#include <pthread.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *run(void *backwards)
{
	pthread_mutex_lock(backwards ? &second : &first);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(backwards ? &first : &second);
	return backwards;
}

int main(void)
{
	pthread_t thread[2];

	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&thread[0], NULL, run, NULL);
	pthread_create(&thread[1], NULL, run, &both);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	return 0;
}
