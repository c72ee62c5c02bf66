/* SPDX-License-Identifier: MIT */
/* Handlers in the middle of wrappers of locks and of the allocator, in two threads. Nothing is lost. */
// COUNT: 200+ enter\(handler\)
// EXPECT: T1\|join\(T2\)
// ORDER: enter\(last\) ;; exit\(last\) ;; exit\(main\)
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t handled;
static volatile int noted;
static int shared;

static void handler(int number)
{
	(void)number;
	for (int i = 0; i < 10; i++)
		noted++;
	handled++;
}

static void *work(void *p)
{
	while (handled < 200) {
		char *q = malloc(10);

		pthread_mutex_lock(&lock);
		shared++;
		q[0] = (char)shared;
		pthread_mutex_unlock(&lock);
		free(q);
	}
	return p;
}

static void last(void) { shared = 1; }

int main(void)
{
	struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
	pthread_t t;

	signal(SIGALRM, handler);
	pthread_create(&t, NULL, work, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	work(NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	pthread_join(t, NULL);
	last();
	printf("%d\n", handled >= 200);
	return 0;
}
