// SPDX-License-Identifier: MIT
// NEVER rounds of a loop that waits in between. With -DCONTROL: it does not wait.
// CONTROL kind=before rank=2 variable=jobs
#include "two.h"

static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int jobs, rush, ready;

static void *worker(void *none)
{
	int seen;

	take();
	seen = jobs;
	give();
	take();
#ifndef CONTROL
	while (!ready)
		pthread_cond_wait(&more, &m);
#endif
	if (rush) // COLD
		jobs = seen + 1;
	give();
	return none;
}

static void *other(void *none)
{
	take();
	jobs = 7;
	ready = 1;
	pthread_cond_signal(&more);
	give();
	return none;
}

int main(void)
{
	run_two(worker, other);
	return 0;
}
