// SPDX-License-Identifier: MIT
// Flags of the command line.
// ARGS: --quiet --verbose
#include <getopt.h>

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
	static const struct option words[] = {
		{"quiet", no_argument, NULL, 'q'}, {"verbose", no_argument, NULL, 'v'}, {"fast", no_argument, NULL, 'f'},
		{"unsafe", no_argument, NULL, 'x'}, {NULL, 0, NULL, 0},
	};
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "qv", words, NULL)) != -1) {
		if (c == 'f')
			fast = 1;
		else if (c == 'x')
			unsafe = 1;
	}
	run_both(worker, worker);
	return 0;
}
