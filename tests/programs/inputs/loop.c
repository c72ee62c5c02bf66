// SPDX-License-Identifier: MIT
// How often a loop goes round.
// ARGS: 3
#include "shared.h"

static int rounds, count;

static void *worker(void *unused)
{
	if (count == 11)
		add(1);
	return unused;
}

int main(int argc, char **argv)
{
	rounds = argc > 1 ? atoi(argv[1]) : 0;
	for (int i = 0; i < rounds; i++)
		count++;
	run_both(worker, worker);
	return 0;
}
