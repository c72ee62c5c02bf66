// SPDX-License-Identifier: MIT
// NEVER one section spans both ends. With -DCONTROL: it does not.
// CONTROL kind=before rank=1 variable=balance
#include "two.h"

static int balance = 10;

static void *alice(void *none)
{
	int seen;

	take();
	seen = balance;
#ifdef CONTROL
	give();
	take();
#endif
	if (seen >= 100) // COLD
		balance = seen - 100;
	give();
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
