// SPDX-License-Identifier: MIT
// Threads change a few atomics in every way, and signal handlers do so in the middle of that: contend ROUNDS SIGNALS.
// Prints what was added; the recording must show each load behind the write that it reads from.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

enum { THREADS = 4, OBJECTS = 3 };

static _Atomic long object[OBJECTS], sum, handled;
static long rounds;

static void handler(int signal)
{
	(void)signal;
	for (int i = 0; i < OBJECTS; i++)
		atomic_load(&object[i]);
	atomic_fetch_add(&handled, 1);
	atomic_fetch_add(&sum, 1);
}

static void *work(void *argument)
{
	unsigned seed = (unsigned)(size_t)argument;

	for (long i = 0; i < rounds; i++) {
		_Atomic long *x = &object[(seed = seed * 1103515245 + 12345) >> 16 & 1];
		long v = atomic_load_explicit(x, memory_order_acquire);

		if (seed >> 20 & 1)
			atomic_store_explicit(x, (long)(seed >> 8), memory_order_release);
		else if (seed >> 21 & 1)
			atomic_compare_exchange_strong(x, &v, v + 1);
		else
			atomic_exchange_explicit(x, v ^ 5, memory_order_acq_rel);
		atomic_fetch_add(&sum, 1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];
	struct itimerval every = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};

	rounds = argc > 1 ? atol(argv[1]) : 1000;
	signal(SIGALRM, handler);
	if (argc > 2)
		setitimer(ITIMER_REAL, &every, NULL);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, (void *)(i + 1));
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	printf("%s\n", sum - handled == THREADS * rounds && (argc < 3 || handled) ? "good" : "bad");
	return 0;
}
