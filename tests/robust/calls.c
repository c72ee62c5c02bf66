/* SPDX-License-Identifier: MIT */
/*
 * Four threads in a function of several accesses, so many times each: prints their sum, and whether the function's code is
 * what it was.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, CODE = 128 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long cells[4], rounds;

__attribute__((noinline)) static void touch(void)
{
	cells[0]++;
	cells[1] += cells[0] & 1;
	cells[2] ^= cells[1];
	cells[3] += 2;
}

static void *work(void *argument)
{
	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&lock);
		touch();
		pthread_mutex_unlock(&lock);
	}
	return argument;
}

/* Its own code is no data that anybody should look at. */
__attribute__((no_sanitize_thread)) static void keep(unsigned char *to)
{
	const volatile unsigned char *code = (const volatile unsigned char *)touch;

	for (int i = 0; i < CODE; i++)
		to[i] = code[i];
}

int main(int argc, char **argv)
{
	unsigned char before[CODE], after[CODE];
	pthread_t t[THREADS];

	rounds = argc > 1 ? atol(argv[1]) : 0;
	keep(before);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	keep(after);
	printf("%ld %ld %s\n", cells[0], cells[3], memcmp(before, after, CODE) ? "changed" : "the same");
	return 0;
}
