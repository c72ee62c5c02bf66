/* SPDX-License-Identifier: MIT */
/*
 * Condition variable. job_next() waits until there is a job, in a function of its own that returns without the lock, and
 * then takes one: another worker may have taken it meanwhile. Visible: the count of jobs falls below nothing, and the
 * assertion fails.
 */
// EXPECT function=job_next variable=queue.jobs live=default,blocks
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static struct {
	pthread_mutex_t lock;
	pthread_cond_t any;
	int jobs, done;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .any = PTHREAD_COND_INITIALIZER};

static void job_add(void)
{
	pthread_mutex_lock(&queue.lock);
	queue.jobs++;
	pthread_cond_signal(&queue.any);
	pthread_mutex_unlock(&queue.lock);
}

static void take_locked(void)
{
	queue.jobs--;
	assert(queue.jobs >= 0);
	queue.done++;
}

#ifdef FIXED
static void job_next(void)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.jobs == 0)
		pthread_cond_wait(&queue.any, &queue.lock);
	take_locked();
	pthread_mutex_unlock(&queue.lock);
}
#else
static void wait_for_job(void)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.jobs == 0)
		pthread_cond_wait(&queue.any, &queue.lock);
	pthread_mutex_unlock(&queue.lock);
}

static void take_job(void)
{
	pthread_mutex_lock(&queue.lock);
	take_locked();
	pthread_mutex_unlock(&queue.lock);
}

static void job_next(void)
{
	wait_for_job();
	take_job();
}
#endif

static void *producer(void *arg)
{
	(void)arg;
	job_add();
	job_add();
	return NULL;
}

static void *worker(void *arg)
{
	(void)arg;
	job_next();
	return NULL;
}

int main(void)
{
	void *(*role[])(void *) = {producer, worker, worker};
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, role[i], NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("%d jobs done\n", queue.done);
	return queue.done != 2;
}
