// SPDX-License-Identifier: MIT
// EXPECT kind=before rank=2 variable=level
// A case that never came.
#include "two.h"

static int level = 1, command = 2;

static void *worker(void *none)
{
	int seen;

	take();
	seen = level;
	give();
	switch (command) { // COLD
	case 1:
		take();
		level = seen * 2;
		give();
		break;
	case 2:
		break;
	}
	return none;
}

static void *other(void *none)
{
	take();
	level = 3;
	give();
	return none;
}

int main(void)
{
	run_two(worker, other);
	return 0;
}
