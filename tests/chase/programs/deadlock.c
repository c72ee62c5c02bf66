/* SPDX-License-Identifier: MIT */
/* Two locks, taken in both orders. */
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void move(pthread_mutex_t *from, pthread_mutex_t *to)
{
	pthread_mutex_lock(from);
	pthread_mutex_lock(to);
	x++;
	pthread_mutex_unlock(to);
	pthread_mutex_unlock(from);
}

static void *there(void *unused)
{
	move(&a, &b);
	return unused;
}

static void *back(void *unused)
{
	move(&b, &a);
	return unused;
}

int main(void)
{
	pthread_t t[2];

	pthread_create(&t[0], NULL, there, NULL);
	pthread_create(&t[1], NULL, back, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return x != 2;
}
