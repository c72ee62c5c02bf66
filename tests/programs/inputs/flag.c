// SPDX-License-Identifier: MIT
// Flags of the command line.
// ARGS: -q -v
#include "shared.h"

static int fast, unsafe;

static void *worker(void *unused)
{
	if (fast && unsafe)
		add(1);
	return unused;
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "qvfux")) != -1) {
		if (c == 'f')
			fast = 1;
		else if (c == 'x')
			unsafe = 1;
	}
	run_both(worker, worker);
	return 0;
}
