// SPDX-License-Identifier: MIT
// Prints each variable's address, size and value as it is written and read.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint8_t one;
static uint16_t two;
static uint32_t four;
static uint64_t eight;
static volatile uint32_t loud;

#define SAY(x) printf("%p %zu %llu\n", (void *)&(x), sizeof(x), (unsigned long long)(x))

/* Apart from the writes, so that the compiler does not know the values. */
static void say_all(void)
{
	SAY(one);
	SAY(two);
	SAY(loud);
	SAY(eight);
}

static void *work(void *argument)
{
	uint64_t *heap = malloc(sizeof *heap);

	pthread_mutex_lock(&mutex);
	four = 70000; /* read again only behind the unlock */
	pthread_mutex_unlock(&mutex);
	*(volatile uint64_t *)heap = 1234567890123;
	(void)loud; /* the thread comes by, and what it has written is read */
	printf("%p 8 1234567890123\n", (void *)heap);
	free(heap);
	return argument;
}

int main(void)
{
	pthread_t t;

	for (int i = 1; i < 4; i++) {
		one = (uint8_t)(50 * i);
		two = (uint16_t)(20000 * i);
		loud = (uint32_t)i;
		eight = ~0ull - (uint64_t)i;
		say_all();
	}
	pthread_create(&t, NULL, work, NULL);
	pthread_join(t, NULL);
	SAY(four);
	return 0;
}
