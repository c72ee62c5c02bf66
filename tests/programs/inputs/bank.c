// SPDX-License-Identifier: MIT
// The account of AtomChase, Figure 2: what Bob takes is refused.
// ARGS: 10 10
// CHANCE: found
#include "shared.h"

static int alice, bob;

static void withdraw(int amount)
{
#ifdef FIXED
	pthread_mutex_lock(&whole);
#endif
	int balance = total_now();

	if (amount <= balance)
		total_is(balance - amount);
#ifdef FIXED
	pthread_mutex_unlock(&whole);
#endif
}

static void *alice_runs(void *unused)
{
	withdraw(alice);
	return unused;
}

static void *bob_runs(void *unused)
{
	withdraw(bob + 5);
	return unused;
}

int main(int argc, char **argv)
{
	alice = argc > 2 ? atoi(argv[1]) : 0;
	bob = argc > 2 ? atoi(argv[2]) : 0;
	total_is(20);
	run_both(alice_runs, bob_runs);
	(void)add;
	return 0;
}
