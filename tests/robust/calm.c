/* SPDX-License-Identifier: MIT */
/*
 * Two threads in a function without accesses of its own: prints whether its code is what it was, after many calls in
 * which it does not lock, and after one in which it does.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 2, ROUNDS = 10000, CODE = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static int seldom(int n)
{
	if (n < 0) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	return n + 1;
}

static void *work(void *argument)
{
	for (int n = 0; n < ROUNDS;)
		n = seldom(n);
	return argument;
}

static void in_threads(void)
{
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

/* Its own code is no data that anybody should look at. */
__attribute__((no_sanitize_thread)) static void keep(unsigned char *to)
{
	const volatile unsigned char *code = (const volatile unsigned char *)seldom;

	for (int i = 0; i < CODE; i++)
		to[i] = code[i];
}

static const char *compare(const unsigned char *before)
{
	unsigned char after[CODE];

	keep(after);
	return memcmp(before, after, CODE) ? "changed" : "the same";
}

int main(void)
{
	unsigned char before[CODE];

	seldom(1);
	keep(before);
	in_threads();
	printf("%s, ", compare(before));
	seldom(-1);
	printf("%s, ", compare(before));
	in_threads();
	printf("%s\n", compare(before));
	return 0;
}
