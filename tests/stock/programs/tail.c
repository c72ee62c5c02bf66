/* SPDX-License-Identifier: MIT */
/*
 * A function that ends by a jump to another one is over. With fission-cc there are no such jumps, and first() is not
 * atomic. blame: add   never: get put first second   alone
 */
#include "blame.h"

static PART long second(long n)
{
	put(n);
	intrude();
	return n * 2;
}

static PART long first(long n)
{
	put(n);
	intrude();
	return second(n + 1);
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
	for (long i = 0; i < 5; i++)
		sum += first(i);
	for (int i = 0; i < 2; i++)
		add();
	printf("%ld\n", sum);
	return 0;
}
