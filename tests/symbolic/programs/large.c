/* SPDX-License-Identifier: MIT */
/* Ten million bytes are read; what decides is among the first. No replay can keep so many, and that is said. */
#include "../../programs/inputs/shared.h"

static int seen;

static void *worker(void *unused)
{
	if (seen == 7)
		add(1);
	return unused;
}

int main(int argc, char **argv)
{
	FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
	static char all[10000000];
	size_t n = f ? fread(all, 1, sizeof all, f) : 0;
	unsigned sum = 0;

	for (size_t i = 0; i < n; i += 4096)
		sum += (unsigned char)all[i];
	if (n > 8 && all[5] == '!')
		seen = 7;
	run_both(worker, worker);
	return sum == 1;
}
