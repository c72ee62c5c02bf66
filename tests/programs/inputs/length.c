// SPDX-License-Identifier: MIT
// The length of an argument.
// ARGS: short
#include "shared.h"

static size_t length;

static void *worker(void *unused)
{
	if (length == 23)
		add(1);
	return unused;
}

int main(int argc, char **argv)
{
	length = argc > 1 ? strlen(argv[1]) : 0;
	run_both(worker, worker);
	return 0;
}
