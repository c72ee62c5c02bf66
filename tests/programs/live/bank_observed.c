/* SPDX-License-Identifier: MIT */
/* expect: violation block=withdraw variable=balance verdict=observed rank=1 enclosing=none */
/* The culprit comes in between. */
#include <pthread.h>
#include <stdio.h>

#include "account.h"
#include "order.h"

static void withdraw(long amount)
{
	long now = get();

	turn_over();
	turn(2);
	set(now - amount);
}

static void *alice(void *p)
{
	withdraw(30);
	return p;
}

static void *bob(void *p)
{
	turn(1);
	set(70);
	turn_over();
	return p;
}

int main(void)
{
	in_two_threads(alice, bob);
	printf("%ld\n", balance);
	return 0;
}
