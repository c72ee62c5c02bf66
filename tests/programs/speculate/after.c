// SPDX-License-Identifier: MIT
// EXPECT kind=after rank=2 variable=total
// What is read on the way that was not taken is written back behind the join.
#include "two.h"

static int total = 10, careful;

static void *adder(void *none)
{
	int seen = 0;

	if (careful) { // COLD
		take();
		seen = total;
		give();
	}
	take();
	total = seen + 1;
	give();
	return none;
}

static void *other(void *none)
{
	take();
	total = 7;
	give();
	return none;
}

int main(void)
{
	run_two(adder, other);
	return 0;
}
