/* SPDX-License-Identifier: MIT */
/* expect: none */
/* The same two sections, but fork and join keep everyone else out of them. */
#include <pthread.h>
#include <stdio.h>

#include "account.h"

static void withdraw(long amount)
{
	long now = get();

	set(now - amount);
}

static void *customer(void *p)
{
	withdraw(30);
	return p;
}

int main(void)
{
	pthread_t t;

	for (int i = 0; i < 3; i++) {
		pthread_create(&t, NULL, customer, NULL);
		pthread_join(t, NULL);
		withdraw(1);
	}
	printf("%ld\n", balance);
	return 0;
}
