// SPDX-License-Identifier: MIT
// EXPECT kind=remote rank=2 variable=size
// The run only ever reads the size; who would change it did not.
#include "two.h"

static int size = 10, command, sum;

static void *reader(void *none)
{
	int before, after;

	take();
	before = size;
	give();
	take();
	after = size;
	give();
	sum = before + after;
	return none;
}

static void *writer(void *none)
{
	take();
	if (command == 3) // COLD
		size = 0;
	give();
	return none;
}

int main(void)
{
	run_two(reader, writer);
	return 0;
}
