/* SPDX-License-Identifier: MIT */
/*
 * Lost update. count_hit() reads the number of hits of a page and stores one more, each under the lock, but not both
 * under one. Visible: fewer hits than visits, exit status 1.
 */
// EXPECT function=count_hit variable=page.hits live=default,blocks
// RUN 3
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
	pthread_mutex_t lock;
	long hits;
} page = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int visits = 1;

#ifdef FIXED
static void count_hit(void)
{
	pthread_mutex_lock(&page.lock);
	page.hits++;
	pthread_mutex_unlock(&page.lock);
}
#else
static long page_hits(void)
{
	pthread_mutex_lock(&page.lock);
	long hits = page.hits;
	pthread_mutex_unlock(&page.lock);
	return hits;
}

static void page_set_hits(long hits)
{
	pthread_mutex_lock(&page.lock);
	page.hits = hits;
	pthread_mutex_unlock(&page.lock);
}

static void count_hit(void)
{
	page_set_hits(page_hits() + 1);
}
#endif

static void *visitor(void *arg)
{
	(void)arg;
	for (int i = 0; i < visits; i++)
		count_hit();
	return NULL;
}

int main(int argc, char **argv)
{
	enum { VISITORS = 2 };
	pthread_t t[VISITORS];

	if (argc > 1)
		visits = atoi(argv[1]);
	for (int i = 0; i < VISITORS; i++)
		pthread_create(&t[i], NULL, visitor, NULL);
	for (int i = 0; i < VISITORS; i++)
		pthread_join(t[i], NULL);
	printf("%ld hits of %d\n", page.hits, VISITORS * visits);
	return page.hits != (long)VISITORS * visits;
}
