// SPDX-License-Identifier: MIT
// NEVER rounds of a loop that waits in between. With -DCONTROL: it does not wait.
// CONTROL kind=before rank=2 variable=jobs
#include "two.h"

static pthread_cond_t more = PTHREAD_COND_INITIALIZER, here = PTHREAD_COND_INITIALIZER;
static int jobs, rush, waiting, ready;

static void *worker(void *none)
{
	int seen;

	take();
	seen = jobs;
	give();
	take();
	waiting = 1;
	pthread_cond_signal(&here);
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
	while (!waiting)
		pthread_cond_wait(&here, &m);
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
