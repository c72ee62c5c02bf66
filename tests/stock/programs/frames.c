/* SPDX-License-Identifier: MIT */
/* Frames of a size that is not known, and frames that are aligned. blame: add aligned variable   never: get put */
#include "blame.h"

#include <alloca.h>

static PART long variable(int n)
{
	char *room = alloca((size_t)n * 16);
	long v;

	memset(room, n, (size_t)n * 16);
	v = get();
	intrude();
	put(v + room[n]);
	return room[n / 2];
}

static PART long aligned(int n)
{
	_Alignas(64) char room[256];
	char more[n];
	long v;

	memset(room, n, sizeof room);
	memset(more, n, (size_t)n);
	v = get();
	intrude();
	put(v + room[n] + more[n - 1]);
	return room[n / 2] + ((unsigned long)room % 64);
}

static PART void add(void)
{
	long v = get();

	intrude();
	put(v + 1);
	KEEP;
}

int main(void)
{
	long sum = 0;

	begin();
	for (int i = 1; i < 40; i++)
		sum += variable(i) + aligned(i);
	add();
	printf("%ld\n", sum);
	return 0;
}
