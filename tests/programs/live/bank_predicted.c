/* SPDX-License-Identifier: MIT */
/* expect: violation block=withdraw variable=balance verdict=predicted rank=1 */
/* The culprit comes afterwards: another schedule puts it in between. */
#include <pthread.h>
#include <stdio.h>

#include "account.h"
#include "order.h"

static void withdraw(long amount)
{
	long now = get();

	set(now - amount);
}

static void *alice(void *p)
{
	withdraw(30);
	turn_over();
	return p;
}

static void *bob(void *p)
{
	turn(1);
	set(70);
	return p;
}

int main(void)
{
	in_two_threads(alice, bob);
	printf("%ld\n", balance);
	return 0;
}
