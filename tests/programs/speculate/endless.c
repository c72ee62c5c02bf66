// SPDX-License-Identifier: MIT
// EXPECT kind=before rank=1 variable=jobs
// A worker that never returns: its loop has no end to meet at, only its own beginning.
#include "two.h"

static int jobs = 3, stop;

static void *worker(void *none)
{
	(void)none;
	for (;;) {
		int seen;

		take();
		seen = jobs;
		give();
		if (seen > 100) { // COLD
			take();
			jobs = seen - 100;
			give();
		}
		take();
		seen = ++stop;
		give();
		if (seen > 2)
			pthread_exit(NULL);
	}
}

static void *other(void *none)
{
	take();
	jobs = 7;
	give();
	return none;
}

int main(void)
{
	run_two(worker, other);
	return 0;
}
