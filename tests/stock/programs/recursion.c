/* SPDX-License-Identifier: MIT */
/* Deep recursion: marks run out, and nothing else happens. blame: add   never: get put */
#include "blame.h"

static PART long down(long n)
{
	long sum = 0;

	put(n);
	if (n)
		sum = down(n - 1);
	return sum + n;
}

static PART long far(long n)
{
	if (n)
		return far(n - 1) + 1;
	put(0);
	return 0;
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
	begin();
	add();
	printf("%ld\n", down(500));
	printf("%ld\n", far(50000));
	printf("%ld\n", far(50000));
	add();
	return 0;
}
