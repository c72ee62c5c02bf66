// SPDX-License-Identifier: MIT
// A plan that needs its own input: in the order of the bug the check fails with the one that was given.
#include "shared.h"

static int expected = 10;

static void *adds(void *unused)
{
	add(10);
	return unused;
}

static void *replaces(void *unused)
{
#ifdef FIXED
	pthread_mutex_lock(&whole);
#endif
	if (total_now() == expected)
		total_is(expected + 5);
#ifdef FIXED
	pthread_mutex_unlock(&whole);
#endif
	return unused;
}

int main(void)
{
	fission_input(&expected, sizeof expected, "expected");
	run_both(adds, replaces);
	return 0;
}
