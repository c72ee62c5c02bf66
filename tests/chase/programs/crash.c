/* SPDX-License-Identifier: MIT */
/* A pointer is looked at and then used, each under the lock; in between another thread takes it away. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *shared;

static int is_there(void)
{
	int there;

	pthread_mutex_lock(&lock);
	there = shared != NULL;
	pthread_mutex_unlock(&lock);
	return there;
}

static int value(void)
{
	int v;

	pthread_mutex_lock(&lock);
	v = *shared;
	pthread_mutex_unlock(&lock);
	return v;
}

static int look(void)
{
	return is_there() ? value() : 0;
}

static void take_away(void)
{
	pthread_mutex_lock(&lock);
	shared = NULL;
	pthread_mutex_unlock(&lock);
}

static void *reader(void *unused)
{
	look();
	return unused;
}

static void *taker(void *unused)
{
	take_away();
	return unused;
}

int main(void)
{
	static int number = 7;
	pthread_t t[2];

	shared = &number;
	pthread_create(&t[0], NULL, reader, NULL);
	pthread_create(&t[1], NULL, taker, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return 0;
}
