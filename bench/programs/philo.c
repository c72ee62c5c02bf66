// SPDX-License-Identifier: MIT
// Dining philosophers at a table that is a monitor: philo PHILOSOPHERS MEALS. Forks are taken both at once, under the
// table's lock, and put back under it later.
//
// BENIGN dine: takes the forks and puts them back in two sections, as it must
#include "../runtime/program.h"

enum { MOST_PHILOSOPHERS = MOST_THREADS };

static struct arguments args;
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t fork_back = PTHREAD_COND_INITIALIZER;
static int in_use[MOST_PHILOSOPHERS], meals; // guarded by table

void get_forks(int left, int right)
{
	pthread_mutex_lock(&table);
	while (in_use[left] || in_use[right])
		pthread_cond_wait(&fork_back, &table);
	in_use[left] = in_use[right] = 1;
	pthread_mutex_unlock(&table);
}

void put_forks(int left, int right)
{
	pthread_mutex_lock(&table);
	in_use[left] = in_use[right] = 0;
	meals++;
	pthread_cond_broadcast(&fork_back);
	pthread_mutex_unlock(&table);
}

void dine(int seat)
{
	int left = seat, right = (seat + 1) % args.threads;

	get_forks(left, right);
	put_forks(left, right);
}

static void *philosopher(void *number)
{
	for (long i = 0; i < args.size; i++)
		dine((int)(intptr_t)number);
	return NULL;
}

int main(int argc, char **argv)
{
	args = arguments(argc, argv, 1000);
	if (args.threads < 2)
		fail("at least two philosophers");
	run_threads(args.threads, philosopher);
	printf("philo: %d meals\n", meals);
	return 0;
}
