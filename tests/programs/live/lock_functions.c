/* SPDX-License-Identifier: MIT */
/* expect: none */
/* config: lock:seize,yield */
/* A lock that only its functions show: what is done under it is done when it is released, and not later. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { TIMES = 500 };

static atomic_int word;
static int total, steps;

static void seize(void)
{
	int was = 0;

	while (!atomic_compare_exchange_strong(&word, &was, 1))
		was = 0;
}

static void yield(void)
{
	atomic_store(&word, 0);
}

static void add(int n)
{
	total += n;
	steps++;
}

static void work(void)
{
	seize();
	for (int i = 0; i < 5; i++)
		add(i);
	yield();
}

static void *run(void *unused)
{
	for (int i = 0; i < TIMES; i++)
		work();
	return unused;
}

int main(void)
{
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, run, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	printf("%d %d\n", total, steps);
	return 0;
}
