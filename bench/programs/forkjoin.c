// SPDX-License-Identifier: MIT
// How fast threads are made, after Java Grande: forkjoin THREADS ROUNDS. Each round starts THREADS threads that do next
// to nothing, and waits for them. Nothing is shared but what is handed over by starting and joining.
#include "../runtime/program.h"

struct job {
	pthread_t id;
	long from, sum;
};

static struct arguments args;

static void *job_thread(void *argument)
{
	struct job *j = argument;

	for (long i = 0; i < 10; i++)
		j->sum += j->from + i;
	return NULL;
}

long fork_and_join(long round)
{
	struct job *jobs = allocate((size_t)args.threads, sizeof(*jobs));
	long sum = 0;

	for (int t = 0; t < args.threads; t++) {
		jobs[t].from = round + t;
		start(&jobs[t].id, job_thread, &jobs[t]);
	}
	for (int t = 0; t < args.threads; t++) {
		pthread_join(jobs[t].id, NULL);
		sum += jobs[t].sum;
	}
	free(jobs);
	return sum;
}

int main(int argc, char **argv)
{
	long sum = 0;

	args = arguments(argc, argv, 47);
	for (long i = 0; i < args.size; i++)
		sum += fork_and_join(i);
	printf("forkjoin: %ld\n", sum);
	return 0;
}
