// SPDX-License-Identifier: MIT
// How fast barriers are, after Java Grande: barrier THREADS ROUNDS. Two kinds: a counter in a monitor, and a tournament
// in which winners wait for losers by atomics. Both are written here, as in the original, not the library's.
//
// BENIGN measure_simple: a round of the barrier is a section of its own, again and again
#include "../runtime/program.h"

#include <sched.h>
#include <stdatomic.h>

enum { LEVELS = 7 };

static struct arguments args;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t open = PTHREAD_COND_INITIALIZER;
static int came;
static long round_number; // guarded by lock, as came
static atomic_long arrived[MOST_THREADS][LEVELS], released;

void simple_barrier(void)
{
	pthread_mutex_lock(&lock);
	long mine = round_number;
	if (++came == args.threads) {
		came = 0;
		round_number++;
		pthread_cond_broadcast(&open);
	}
	while (mine == round_number)
		pthread_cond_wait(&open, &lock);
	pthread_mutex_unlock(&lock);
}

static void until(atomic_long *what, long value)
{
	while (atomic_load(what) < value)
		sched_yield();
}

// Of each pair the lower one goes on, and the other waits for the last one's word.
void tournament_barrier(int t, long round)
{
	for (int level = 0, step = 1; step < args.threads; level++, step *= 2) {
		if (t % (2 * step)) {
			atomic_store(&arrived[t][level], round);
			until(&released, round);
			return;
		}
		if (t + step < args.threads)
			until(&arrived[t + step][level], round);
	}
	atomic_store(&released, round);
}

void measure_simple(void)
{
	for (long i = 0; i < args.size; i++)
		simple_barrier();
}

void measure_tournament(int t)
{
	for (long i = 1; i <= args.size; i++)
		tournament_barrier(t, i);
}

static void *worker(void *number)
{
	measure_simple();
	measure_tournament((int)(intptr_t)number);
	return NULL;
}

int main(int argc, char **argv)
{
	args = arguments(argc, argv, 10000);
	run_threads(args.threads, worker);
	printf("barrier: %ld rounds\n", round_number);
	return 0;
}
