// SPDX-License-Identifier: MIT
// EXPECT kind=before rank=4 variable=state
// Written twice, and somebody could see what is between.
#include "two.h"

static int state, failed, copy;

static void *worker(void *none)
{
	take();
	state = 1;
	give();
	if (failed) { // COLD
		take();
		state = 2;
		give();
	}
	return none;
}

static void *reader(void *none)
{
	take();
	copy = state;
	give();
	return none;
}

int main(void)
{
	run_two(worker, reader);
	return 0;
}
