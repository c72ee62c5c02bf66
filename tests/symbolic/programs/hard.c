/* SPDX-License-Identifier: MIT */
/* One guard that no solver opens in time, and another one behind it that is easy. */
#include "../../programs/inputs/shared.h"

static unsigned long p = 3, q = 5;
static int code = 1;

static void *worker(void *unused)
{
	if (p > 1 && q > 1 && p < 4294967296 && q < 4294967296 && p * q == 4611685975477714963)
		total_is(-1);
	if (code == 20011)
		add(1);
	return unused;
}

int main(void)
{
	fission_input(&p, sizeof p, "p");
	fission_input(&q, sizeof q, "q");
	fission_input(&code, sizeof code, "code");
	run_both(worker, worker);
	return 0;
}
