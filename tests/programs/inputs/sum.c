// SPDX-License-Identifier: MIT
// The sum of two inputs, the one greater than the other.
// ARGS: 3 4
#include "shared.h"

static int left, right;

static void *worker(void *unused)
{
	if (left + right == 100003 && left > right)
		add(1);
	return unused;
}

int main(int argc, char **argv)
{
	left = argc > 2 ? atoi(argv[1]) : 0;
	right = argc > 2 ? atoi(argv[2]) : 0;
	run_both(worker, worker);
	return 0;
}
