// SPDX-License-Identifier: MIT
// EXPECT kind=before rank=1 variable=balance
// The bank of 002, Figure 2: the withdrawal is refused in the run.
#include "two.h"

static int balance = 10;

static void withdraw(int amount)
{
	int seen;

	take();
	seen = balance;
	give();
	if (seen >= amount) { // COLD
		take();
		balance = seen - amount;
		give();
	}
}

static void *alice(void *none)
{
	withdraw(100);
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
