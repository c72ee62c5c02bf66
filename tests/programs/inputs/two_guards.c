// SPDX-License-Identifier: MIT
// Two guards in two threads.
// ARGS: 1 2
#include "shared.h"

static long first, second;

static void *one(void *unused)
{
	if (first * 2 == 86420)
		add(1);
	return unused;
}

static void *two(void *unused)
{
	if (second - 5 == 13579)
		add(2);
	return unused;
}

int main(int argc, char **argv)
{
	first = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
	second = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	run_both(one, two);
	return 0;
}
