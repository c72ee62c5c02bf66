/* SPDX-License-Identifier: MIT */
/* What all these programs do: two threads, beside each other, and nobody else. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static inline void take(void)
{
	pthread_mutex_lock(&m);
}

static inline void give(void)
{
	pthread_mutex_unlock(&m);
}

static inline void run_two(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t a, b;

	pthread_create(&a, NULL, first, NULL);
	pthread_create(&b, NULL, second, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}
