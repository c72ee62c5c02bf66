/* SPDX-License-Identifier: MIT */
/* With another input it crashes, with a third one it never ends: both are kept, and the search goes on. */
#include "../../programs/inputs/shared.h"

static int code = 1;

static void *worker(void *unused)
{
	if (code == 1001)
		abort();
	while (code == 2002)
		total_now();
	if (code == 3003)
		add(1);
	return unused;
}

int main(void)
{
	fission_input(&code, sizeof code, "code");
	run_both(worker, worker);
	return 0;
}
