// SPDX-License-Identifier: MIT
// EXPECT kind=window rank=3 variable=count
// One section, unless it has to make room.
#include "two.h"

static int count = 1, full;

static void *adder(void *none)
{
	int seen;

	take();
	seen = count;
	if (full) { // COLD
		give();
		take();
	}
	count = seen + 2;
	give();
	return none;
}

int main(void)
{
	run_two(adder, adder);
	return 0;
}
