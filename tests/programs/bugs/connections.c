/* SPDX-License-Identifier: MIT */
/*
 * Pool, get then use. connection_get() looks for an idle connection and marks it busy in a second section. Two
 * threads may get the same one. Visible: a connection has two users at a time, exit status 1.
 */
// EXPECT function=connection_get variable=pool.busy live=default,blocks
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { CONNECTIONS = 2 };

static struct {
	pthread_mutex_t lock;
	bool busy[CONNECTIONS];
	int users[CONNECTIONS];
	int shared;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int idle_locked(void)
{
	for (int i = 0; i < CONNECTIONS; i++)
		if (!pool.busy[i])
			return i;
	return -1;
}

static void use_locked(int i)
{
	pool.busy[i] = true;
	if (++pool.users[i] > 1)
		pool.shared++;
}

#ifdef FIXED
static int connection_get(void)
{
	pthread_mutex_lock(&pool.lock);
	int i = idle_locked();
	if (i >= 0)
		use_locked(i);
	pthread_mutex_unlock(&pool.lock);
	return i;
}
#else
static int connection_idle(void)
{
	pthread_mutex_lock(&pool.lock);
	int i = idle_locked();
	pthread_mutex_unlock(&pool.lock);
	return i;
}

static void connection_mark(int i)
{
	pthread_mutex_lock(&pool.lock);
	use_locked(i);
	pthread_mutex_unlock(&pool.lock);
}

static int connection_get(void)
{
	int i = connection_idle();

	if (i >= 0)
		connection_mark(i);
	return i;
}
#endif

static void connection_put(int i)
{
	pthread_mutex_lock(&pool.lock);
	pool.users[i]--;
	pool.busy[i] = false;
	pthread_mutex_unlock(&pool.lock);
}

static void *query(void *arg)
{
	int i = connection_get();

	(void)arg;
	if (i >= 0)
		connection_put(i);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, query, NULL);
	pthread_create(&b, NULL, query, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("shared: %d\n", pool.shared);
	return pool.shared != 0;
}
