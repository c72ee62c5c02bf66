// SPDX-License-Identifier: MIT
// EXPECT kind=inside rank=2 variable=total
// Both ends are on the way that was not taken.
#include "two.h"

static int total = 10, careful;

static void *adder(void *none)
{
	int seen;

	if (careful) { // COLD
		take();
		seen = total;
		give();
		take();
		total = seen + 1;
		give();
	}
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
