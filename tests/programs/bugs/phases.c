/* SPDX-License-Identifier: MIT */
/*
 * A barrier. Workers add up their parts in the first phase and use the sum in the second. What they do between two barriers
 * is still concurrent: add_part() reads the sum and stores it in two sections. Visible: the sum is short, exit
 * status 1.
 */
// EXPECT function=add_part variable=sum live=default,blocks
#include <pthread.h>
#include <stdio.h>

enum { WORKERS = 2, ROUNDS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static int sum;

#ifdef FIXED
static void add_part(int part)
{
	pthread_mutex_lock(&lock);
	sum += part;
	pthread_mutex_unlock(&lock);
}
#else
static int sum_get(void)
{
	pthread_mutex_lock(&lock);
	int now = sum;
	pthread_mutex_unlock(&lock);
	return now;
}

static void sum_set(int to)
{
	pthread_mutex_lock(&lock);
	sum = to;
	pthread_mutex_unlock(&lock);
}

static void add_part(int part)
{
	sum_set(sum_get() + part);
}
#endif

struct worker {
	pthread_t thread;
	int part, seen;
};

static void *work(void *arg)
{
	struct worker *w = arg;

	for (int i = 0; i < ROUNDS; i++) {
		add_part(w->part);
		pthread_barrier_wait(&barrier);
		pthread_mutex_lock(&lock);
		w->seen = sum;
		pthread_mutex_unlock(&lock);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(void)
{
	struct worker w[WORKERS] = {{.part = 3}, {.part = 4}};

	pthread_barrier_init(&barrier, NULL, WORKERS);
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(w[i].thread, NULL);
	pthread_barrier_destroy(&barrier);
	printf("sums: %d %d\n", w[0].seen, w[1].seen);
	return w[0].seen != 14 || w[1].seen != 14;
}
