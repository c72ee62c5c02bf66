// SPDX-License-Identifier: MIT
// A variable of the environment.
// ENV: LEVEL=low
#include "shared.h"

static int is_high;

static void *worker(void *unused)
{
	if (is_high)
		add(1);
	return unused;
}

int main(void)
{
	const char *level = getenv("LEVEL");

	is_high = level && strncmp(level, "max:", 4) == 0 && level[4] == '9';
	run_both(worker, worker);
	return 0;
}
