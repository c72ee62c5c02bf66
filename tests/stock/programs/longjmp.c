/* SPDX-License-Identifier: MIT */
/* Jumps over marked frames. blame: add   never: get put */
#include "blame.h"

#include <setjmp.h>

static jmp_buf back;

static PART void deep(int n)
{
	put(n);
	if (!n)
		longjmp(back, 1);
	deep(n - 1);
	KEEP;
}

static PART void add(void)
{
	long v = get();

	intrude();
	put(v + 1);
	KEEP;
}

static PART int try(int n)
{
	if (setjmp(back))
		return n;
	deep(n);
	return -1;
}

int main(void)
{
	long sum = 0;

	begin();
	for (int i = 0; i < 20000; i++)
		sum += try(i % 7);
	for (int i = 0; i < 3; i++)
		add();
	printf("%ld\n", sum);
	return 0;
}
