/* SPDX-License-Identifier: MIT */
/*
 * Functions without frames of their own: debug information tells of them. Rounds of a loop are calls of their own, and so
 * are two calls in a row. blame: add both   never: one look   alone
 */
#include "blame.h"

#define INLINED static inline __attribute__((always_inline))

INLINED long look(void)
{
	long v;

	pthread_mutex_lock(&lock);
	v = value;
	pthread_mutex_unlock(&lock);
	return v;
}

INLINED void add(void)
{
	long v = look();

	intrude();
	put(v + 1);
}

INLINED void both(void)
{
	add();
	intrude();
	look();
}

INLINED void one(void)
{
	look();
	intrude();
}

static PART void rounds(void)
{
	for (int i = 0; i < 3; i++)
		one();
	KEEP;
}

static PART void all(void)
{
	add();
	intrude();
	both();
	KEEP;
}

int main(void)
{
	begin();
	all();
	rounds();
	printf("%ld\n", value % 100);
	return 3;
}
