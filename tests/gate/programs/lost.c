/* SPDX-License-Identifier: MIT */
/* A signal that nobody waits for yet, and then a wait for it: in some orders only. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;

static void *run(void *unused)
{
	pthread_cond_signal(&c);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, NULL);
	pthread_mutex_lock(&m);
	pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
	pthread_join(thread, NULL);
	puts("woken");
	return 0;
}
