/* SPDX-License-Identifier: MIT */
/* Two sections in one activation, and two calls in a row. blame: add again   never: get put */
#include "blame.h"

static PART void add(void)
{
	long v = get();

	intrude();
	put(v + 1);
	KEEP;
}


static PART void again(void)
{
	get();
	intrude();
	get();
	KEEP;
}

int main(void)
{
	begin();
	for (int i = 0; i < 3; i++)
		add();
	for (int i = 0; i < 3; i++) {
		get();
		intrude();
	}
	again();
	printf("%ld\n", value % 100);
	return 3;
}
