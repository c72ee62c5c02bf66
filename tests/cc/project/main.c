/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>

#include "account.h"

static void *customer(void *amount)
{
	account_withdraw(*(long *)amount);
	return amount;
}

int main(void)
{
	pthread_t thread;
	long amount = 30;

	if (pthread_create(&thread, NULL, customer, &amount) || pthread_join(thread, NULL))
		return 1;
	printf("%ld left\n", account_withdraw(amount));
	return 0;
}
