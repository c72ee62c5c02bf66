/* SPDX-License-Identifier: MIT */
/*
 * A recursive lock. Every function of the tree takes it, so that they can call one another. node_move() believes that this
 * makes it atomic, and does not hold it itself. Visible: a child has two parents, or none, exit status 1.
 */
// EXPECT function=node_move variable=children live=default,blocks
#include <pthread.h>
#include <stdio.h>

enum { NODES = 3 };

static pthread_mutex_t lock;
static int children[NODES];
static int seen;

static void lock_init(void)
{
	pthread_mutexattr_t recursive;

	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&lock, &recursive);
	pthread_mutexattr_destroy(&recursive);
}

static void child_change(int node, int by)
{
	pthread_mutex_lock(&lock);
	children[node] += by;
	pthread_mutex_unlock(&lock);
}

static void node_move(int from, int to)
{
#ifdef FIXED
	pthread_mutex_lock(&lock);
#endif
	child_change(from, -1);
	child_change(to, 1);
#ifdef FIXED
	pthread_mutex_unlock(&lock);
#endif
}

static int children_of(int node)
{
	pthread_mutex_lock(&lock);
	int n = children[node];
	pthread_mutex_unlock(&lock);
	return n;
}

static int tree_size(void)
{
	int n = 0;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < NODES; i++)
		n += children_of(i);
	pthread_mutex_unlock(&lock);
	return n;
}

static void *mover(void *arg)
{
	(void)arg;
	node_move(0, 2);
	return NULL;
}

static void *counter(void *arg)
{
	(void)arg;
	seen = tree_size();
	return NULL;
}

int main(void)
{
	pthread_t m, c;

	lock_init();
	children[0] = 2;
	children[1] = 1;
	pthread_create(&m, NULL, mover, NULL);
	pthread_create(&c, NULL, counter, NULL);
	pthread_join(m, NULL);
	pthread_join(c, NULL);
	pthread_mutex_destroy(&lock);
	printf("%d children\n", seen);
	return seen != 3;
}
