// SPDX-License-Identifier: MIT
// NEVER each thread has an element of its own. With -DCONTROL: they share one.
// CONTROL kind=before rank=1 variable=counter[]
#include "two.h"

static int counter[2];

static void work(int which)
{
	int seen;

	take();
	seen = counter[which];
	give();
	if (seen > 5) { // COLD
		take();
		counter[which] = seen - 5;
		give();
	}
	take();
	counter[which] = 2;
	give();
}

static void *first(void *none)
{
	work(0);
	return none;
}

static void *second(void *none)
{
#ifdef CONTROL
	work(0);
#else
	work(1);
#endif
	return none;
}

int main(void)
{
	run_two(first, second);
	return 0;
}
