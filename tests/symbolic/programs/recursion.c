/* SPDX-License-Identifier: MIT */
/* As deep as a number says, with an expression that grows on the way; the number is found all the same. */
#include "../../programs/inputs/shared.h"

static int depth;

static int go_down(int n, int sum)
{
	return n <= 0 ? sum : go_down(n - 1, sum + depth);
}

static void *worker(void *unused)
{
	if (go_down(2000, 0) == 2000 * 77)
		add(1);
	return unused;
}

int main(int argc, char **argv)
{
	depth = argc > 1 ? atoi(argv[1]) : 0;
	run_both(worker, worker);
	return 0;
}
