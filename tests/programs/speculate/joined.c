// SPDX-License-Identifier: MIT
// NEVER the other thread wrote when this one was over. With -DCONTROL: before.
// CONTROL kind=before rank=1 variable=balance
#include "two.h"

static int balance;

static void *alice(void *none)
{
	int seen;

	take();
	seen = balance;
	give();
	if (seen >= 100) { // COLD
		take();
		balance = seen - 100;
		give();
	}
	return none;
}

static void *bob(void *none)
{
	pthread_t a;

	pthread_create(&a, NULL, alice, NULL);
#ifdef CONTROL
	take();
	balance = 5;
	give();
#endif
	pthread_join(a, NULL);
#ifndef CONTROL
	take();
	balance = 5;
	give();
#endif
	return none;
}

static void *idle(void *none)
{
	return none;
}

int main(void)
{
	run_two(bob, idle);
	return 0;
}
