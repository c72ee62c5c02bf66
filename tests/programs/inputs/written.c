// SPDX-License-Identifier: MIT
// A branch on a value that the other thread has written.
// STDIN: 12\n
#include "shared.h"

static int step, level;

static void *climbs(void *unused)
{
	pthread_mutex_lock(&whole);
	level += step;
	pthread_mutex_unlock(&whole);
	add(1);
	return unused;
}

static void *looks(void *unused)
{
	int seen;

	pthread_mutex_lock(&whole);
	seen = level;
	pthread_mutex_unlock(&whole);
	if (seen > 70000 && seen % 1000003 == 4711)
		add(1);
	return unused;
}

int main(void)
{
	if (scanf("%d", &step) != 1)
		return 1;
	run_both(climbs, looks);
	return 0;
}
