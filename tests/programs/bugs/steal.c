/* SPDX-License-Identifier: MIT */
/*
 * A work-stealing queue with atomics, after Chase and Lev. The owner takes at the bottom, thieves steal at the top by compare
 * and swap. deque_take() must do the same for the last job, and stores the new top instead. Visible: a job is
 * done twice, exit status 1.
 *
 * The fixed twin has a lock around each operation. A compare and swap alone would repair it, too, but one that fails is
 * an operation that another thread has split, and that starts again.
 */
// EXPECT function=deque_take variable=deque.top live=blocks
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

enum { JOBS = 8, NOTHING = -1 };

static struct {
	atomic_int top, bottom;
	atomic_int job[JOBS];
} deque;

static atomic_int done[JOBS];

#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define DEQUE_LOCK() pthread_mutex_lock(&lock)
#define DEQUE_UNLOCK() pthread_mutex_unlock(&lock)
#else
#define DEQUE_LOCK() ((void)0)
#define DEQUE_UNLOCK() ((void)0)
#endif

static void deque_push(int job)
{
	DEQUE_LOCK();
	int b = atomic_load(&deque.bottom);
	atomic_store(&deque.job[b], job);
	atomic_store(&deque.bottom, b + 1);
	DEQUE_UNLOCK();
}

static int deque_take(void)
{
	int job = NOTHING;

	DEQUE_LOCK();
	int b = atomic_load(&deque.bottom) - 1;
	atomic_store(&deque.bottom, b);
	int t = atomic_load(&deque.top);
	if (t <= b)
		job = atomic_load(&deque.job[b]);
	if (t == b)
		atomic_store(&deque.top, t + 1);
	if (t >= b)
		atomic_store(&deque.bottom, b + 1);
	DEQUE_UNLOCK();
	return job;
}

static int deque_steal(void)
{
	int job = NOTHING;

	DEQUE_LOCK();
	int t = atomic_load(&deque.top);
	if (t < atomic_load(&deque.bottom)) {
		job = atomic_load(&deque.job[t]);
		if (!atomic_compare_exchange_strong(&deque.top, &t, t + 1))
			job = NOTHING;
	}
	DEQUE_UNLOCK();
	return job;
}

static void do_job(int job)
{
	if (job != NOTHING)
		atomic_fetch_add(&done[job], 1);
}

/* Does one job of its own and leaves another one. */
static void *owner(void *arg)
{
	(void)arg;
	deque_push(0);
	do_job(deque_take());
	deque_push(1);
	return NULL;
}

static void *thief(void *arg)
{
	int job;

	(void)arg;
	while ((job = deque_steal()) == NOTHING)
		sched_yield();
	do_job(job);
	return NULL;
}

int main(void)
{
	pthread_t o, t;

	pthread_create(&o, NULL, owner, NULL);
	pthread_create(&t, NULL, thief, NULL);
	pthread_join(o, NULL);
	pthread_join(t, NULL);
	printf("job 0 done %d times\n", done[0]);
	return done[0] != 1;
}
