/* SPDX-License-Identifier: MIT
 *
 * What the programs of this folder share: PROGRAM [THREADS [SIZE]], threads, random numbers, a checksum.
 *
 * Every program prints one line that depends on its arguments only, never on the schedule: a run that prints something
 * else has been disturbed, and its time means nothing. So threads draw their random numbers from seeds of their own, and
 * what they do to shared data commutes. Every program is free of races and of atomics: what it costs is accesses, calls
 * and locks.
 */
#ifndef BENCH_RUNTIME_PROGRAM_H
#define BENCH_RUNTIME_PROGRAM_H

#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_THREADS = 64 };

struct arguments {
	int threads;
	long size;
};

static inline void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(2);
}

static inline long number(const char *text, long least, long most)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (end == text || *end || value < least || value > most)
		fail("usage: PROGRAM [THREADS [SIZE]]");
	return value;
}

static inline struct arguments arguments(int argc, char **argv, long size)
{
	struct arguments a = { 2, size };

	if (argc > 1)
		a.threads = (int)number(argv[1], 1, MOST_THREADS);
	if (argc > 2)
		a.size = number(argv[2], 1, INT32_MAX);
	return a;
}

static inline void *allocate(size_t count, size_t size)
{
	void *p = calloc(count, size);

	if (!p)
		fail("out of memory");
	return p;
}

static inline void start(pthread_t *thread, void *(*body)(void *), void *argument)
{
	if (pthread_create(thread, NULL, body, argument))
		fail("cannot create a thread");
}

/* Runs body(0) to body(threads - 1), each number in a thread of its own, and waits for all. */
static inline void run_threads(int threads, void *(*body)(void *))
{
	pthread_t ids[MOST_THREADS];

	for (int t = 0; t < threads; t++)
		start(&ids[t], body, (void *)(intptr_t)t);
	for (int t = 0; t < threads; t++)
		pthread_join(ids[t], NULL);
}

/* Arithmetic, inlined even where the tool asks the compiler to keep calls: it is not what is measured. */
#define ARITHMETIC static inline __attribute__((always_inline))

/* Spreads the bits of x: a hash, and the step of the checksum. */
ARITHMETIC uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
	x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return x ^ x >> 32;
}

/* A number below limit, and the next state. */
ARITHMETIC uint32_t draw(uint64_t *state, uint32_t limit)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((*state >> 32) * limit >> 32);
}

static inline void print_checksum(const char *name, uint64_t sum)
{
	printf("%s %016" PRIx64 "\n", name, sum);
}

#endif
