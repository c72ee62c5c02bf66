// SPDX-License-Identifier: MIT
// EXPECT kind=before rank=1 variable=balance
// RUN 100
// CHASE
// The bank again, and what is withdrawn comes from the command line: the search finds how much there must be of it.
#include "two.h"

static int balance = 50, amount;

static void withdraw(void)
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
	withdraw();
	return none;
}

static void *bob(void *none)
{
	take();
	balance += 5;
	give();
	return none;
}

int main(int argc, char **argv)
{
	amount = argc > 1 ? atoi(argv[1]) : 0;
	run_two(alice, bob);
	return 0;
}
