/* SPDX-License-Identifier: MIT */
/* Many of something: crowd created|alive|mutexes|deep NUMBER. Prints what it has counted. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all_there;
static unsigned long count;

static void raise_count(void)
{
	pthread_mutex_lock(&mutex);
	count++;
	pthread_mutex_unlock(&mutex);
}

static void *come_and_go(void *argument)
{
	raise_count();
	return argument;
}

static void *stay(void *argument)
{
	raise_count();
	pthread_barrier_wait(&all_there);
	raise_count();
	return argument;
}

static void created(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, come_and_go, NULL) != 0)
			exit(3);
		pthread_join(thread, NULL);
	}
}

static void alive(unsigned long n)
{
	pthread_t *thread = calloc(n, sizeof *thread);
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 * 1024);
	pthread_barrier_init(&all_there, NULL, (unsigned)n);
	for (unsigned long i = 0; i < n; i++)
		if (pthread_create(&thread[i], &small, stay, NULL) != 0)
			exit(3);
	for (unsigned long i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

static void mutexes(unsigned long n)
{
	pthread_mutex_t *many = calloc(n, sizeof *many);

	for (unsigned long i = 0; i < n; i++)
		pthread_mutex_init(&many[i], NULL);
	for (unsigned long i = 0; i < n; i++) {
		pthread_mutex_lock(&many[i]);
		count++;
		pthread_mutex_unlock(&many[i]);
	}
	for (unsigned long i = 0; i < n; i++)
		pthread_mutex_destroy(&many[i]);
}

static unsigned long deep(unsigned long n)
{
	count++;
	return n > 1 ? deep(n - 1) + 1 : 1;
}

static void *go_deep(void *argument)
{
	return (void *)deep((unsigned long)argument);
}

/* On a stack that is large enough for it. */
static void recursion(unsigned long n)
{
	pthread_t thread;
	pthread_attr_t large;
	void *depth;

	pthread_attr_init(&large);
	pthread_attr_setstacksize(&large, n * 256 + (1 << 20));
	if (pthread_create(&thread, &large, go_deep, (void *)n) != 0)
		exit(3);
	pthread_join(thread, &depth);
	if ((unsigned long)depth != n)
		exit(4);
}

int main(int argc, char **argv)
{
	unsigned long n = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

	if (argc != 3)
		return 2;
	if (strcmp(argv[1], "created") == 0)
		created(n);
	else if (strcmp(argv[1], "alive") == 0)
		alive(n);
	else if (strcmp(argv[1], "mutexes") == 0)
		mutexes(n);
	else
		recursion(n);
	printf("%lu\n", count);
	return 0;
}
