/* SPDX-License-Identifier: MIT */
/* What goes through floating point and inline assembly is not followed, and is counted; the rest is. */
#include "../../programs/inputs/shared.h"

static int code = 1, other = 2;

static void *worker(void *unused)
{
	double half = code * 0.5;
	int same = other;

	__asm__("" : "+r"(same));
	if (half > 1e9 && same == 3)
		total_is(-1);
	if (code == 20011)
		add(1);
	return unused;
}

int main(void)
{
	fission_input(&code, sizeof code, "code");
	fission_input(&other, sizeof other, "other");
	run_both(worker, worker);
	return 0;
}
