/* SPDX-License-Identifier: MIT */
/* Whoever comes while another is at the routine waits for it. */
#include <pthread.h>
#include <stdio.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int times, ready, wrong;

static void make(void)
{
	times++;
	for (int i = 0; i < 5; i++) {
		pthread_mutex_lock(&m);
		pthread_mutex_unlock(&m);
	}
	ready = 1;
}

static void *run(void *unused)
{
	pthread_once(&once, make);
	if (!ready)
		wrong = 1;
	return unused;
}

int main(void)
{
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, run, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	printf("%d %d\n", times, wrong);
	return 0;
}
