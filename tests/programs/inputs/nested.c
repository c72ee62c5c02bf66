// SPDX-License-Identifier: MIT
// Guards within guards.
#include "shared.h"

static unsigned a = 1, b = 2;

static void *worker(void *unused)
{
	if (a > 1000)
		if (a % 7 == 3)
			if ((a ^ b) == 0x155)
				add(1);
	return unused;
}

int main(void)
{
	fission_input(&a, sizeof a, "a");
	fission_input(&b, sizeof b, "b");
	run_both(worker, worker);
	return 0;
}
