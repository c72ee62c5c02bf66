// SPDX-License-Identifier: MIT
// NEVER the branch ends in an abort. With -DCONTROL: it goes on.
// CONTROL kind=before rank=1 variable=balance
#include "two.h"

static int balance = 10;

static void fail(int seen)
{
	take();
	balance = -seen;
	give();
#ifndef CONTROL
	abort();
#endif
}

static void *alice(void *none)
{
	int seen;

	take();
	seen = balance;
	give();
	if (seen < 0) // COLD
		fail(seen);
	return none;
}

static void *bob(void *none)
{
	take();
	balance += 5;
	give();
	return none;
}

int main(void)
{
	run_two(alice, bob);
	return 0;
}
