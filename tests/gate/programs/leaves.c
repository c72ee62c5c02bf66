/* SPDX-License-Identifier: MIT */
/* The first thread ends by pthread_exit, the others go on. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int left = 3;

static void *run(void *unused)
{
	for (int i = 0; i < 5; i++) {
		pthread_mutex_lock(&m);
		pthread_mutex_unlock(&m);
	}
	pthread_mutex_lock(&m);
	if (--left == 0)
		puts("all");
	pthread_mutex_unlock(&m);
	return unused;
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++) {
		pthread_create(&thread, NULL, run, NULL);
		pthread_detach(thread);
	}
	pthread_exit(NULL);
}
