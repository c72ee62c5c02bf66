// SPDX-License-Identifier: MIT
// NEVER two sections that each count. With -DCONTROL: the second one counts from what the first one saw.
// CONTROL kind=before rank=2 variable=total
#include "two.h"

static int total = 3, careful;

static void *worker(void *none)
{
	int seen;

	take();
	seen = total;
	total = seen + 1;
	give();
	if (careful) { // COLD
		take();
#ifdef CONTROL
		total = seen + 2;
#else
		total++;
#endif
		give();
	}
	return none;
}

int main(void)
{
	run_two(worker, worker);
	return 0;
}
