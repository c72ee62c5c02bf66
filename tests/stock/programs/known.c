/* SPDX-License-Identifier: MIT */
/* Places that lock alone, for long, and then in a window: they are known well by then, and yet it is found. blame: add   never: get put */
#include "blame.h"

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
	for (int i = 0; i < 100000; i++) {
		get();
		put(7);
	}
	for (int i = 0; i < 5000; i++)
		add();
	printf("%ld\n", value % 100);
	return 3;
}
