/* SPDX-License-Identifier: MIT */
/*
 * A bank with one lock. transfer() takes from one account and gives to the other, each a step of its own: an
 * audit in between misses the money. Visible: the audit is wrong, exit status 1.
 */
// EXPECT function=transfer variable=bank.money live=default,blocks
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { ACCOUNTS = 3, START = 100 };

static struct {
	pthread_mutex_t lock;
	long money[ACCOUNTS];
} bank = {PTHREAD_MUTEX_INITIALIZER, {START, START, START}};

static long audited;

static bool take_locked(int from, long money)
{
	if (bank.money[from] < money)
		return false;
	bank.money[from] -= money;
	return true;
}

#ifdef FIXED
static bool transfer(int from, int to, long money)
{
	pthread_mutex_lock(&bank.lock);
	bool taken = take_locked(from, money);
	if (taken)
		bank.money[to] += money;
	pthread_mutex_unlock(&bank.lock);
	return taken;
}
#else
static bool withdraw(int from, long money)
{
	pthread_mutex_lock(&bank.lock);
	bool taken = take_locked(from, money);
	pthread_mutex_unlock(&bank.lock);
	return taken;
}

static void deposit(int to, long money)
{
	pthread_mutex_lock(&bank.lock);
	bank.money[to] += money;
	pthread_mutex_unlock(&bank.lock);
}

static bool transfer(int from, int to, long money)
{
	if (!withdraw(from, money))
		return false;
	deposit(to, money);
	return true;
}
#endif

static long audit(void)
{
	long sum = 0;

	pthread_mutex_lock(&bank.lock);
	for (int i = 0; i < ACCOUNTS; i++)
		sum += bank.money[i];
	pthread_mutex_unlock(&bank.lock);
	return sum;
}

static void *teller(void *arg)
{
	(void)arg;
	transfer(0, 1, 30);
	return NULL;
}

static void *auditor(void *arg)
{
	(void)arg;
	audited = audit();
	return NULL;
}

int main(void)
{
	pthread_t t, a;

	pthread_create(&t, NULL, teller, NULL);
	pthread_create(&a, NULL, auditor, NULL);
	pthread_join(t, NULL);
	pthread_join(a, NULL);
	printf("audited %ld of %d\n", audited, ACCOUNTS * START);
	return audited != (long)ACCOUNTS * START;
}
