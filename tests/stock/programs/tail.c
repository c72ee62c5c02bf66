/* SPDX-License-Identifier: MIT */
/*
 * A function that ends by a jump to another one is over. With fission-cc there are no such jumps, and first() is not
 * atomic. blame: add both   never: get put first second   alone
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

/* Its last word is a jump into the C library, or what stands in front of it: that is still its own. */
static PART int both(void)
{
	put(1);
	intrude();
	pthread_mutex_lock(&lock);
	KEEP;
	return pthread_mutex_unlock(&lock);
}

int main(void)
{
	long sum = 0;

	begin();
	for (long i = 0; i < 5; i++)
		sum += first(i);
	for (int i = 0; i < 2; i++) {
		add();
		sum += both();
	}
	printf("%ld\n", sum);
	return 0;
}
