/* SPDX-License-Identifier: MIT */
#include "account.h"

#include <fission.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long balance = 100;

static long account_balance(void)
{
	long seen;

	pthread_mutex_lock(&mutex);
	seen = balance;
	pthread_mutex_unlock(&mutex);
	return seen;
}

FISSION_ATOMIC long account_withdraw(long amount)
{
	if (account_balance() < amount)
		return -1;
	pthread_mutex_lock(&mutex);
	amount = balance -= amount;
	pthread_mutex_unlock(&mutex);
	return amount;
}
