// SPDX-License-Identifier: MIT
// How often a loop goes round.
#include "shared.h"

static int rounds = 3, count;

static void *worker(void *unused)
{
	if (count == 11)
		add(1);
	return unused;
}

int main(void)
{
	fission_input(&rounds, sizeof rounds, "rounds");
	for (int i = 0; i < rounds && i < 1000; i++)
		count++;
	run_both(worker, worker);
	return 0;
}
