/* SPDX-License-Identifier: MIT */
/*
 * Figure 2 of 002: Alice and Bob have a joint account of 20; Alice's machine takes no fee, Bob's takes 5. With FIXED the
 * balance is looked at and changed under one lock.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
	pthread_mutex_t lock;
	int balance;
} account = {PTHREAD_MUTEX_INITIALIZER, 20};

static int get_balance(void)
{
	int balance;

	pthread_mutex_lock(&account.lock);
	balance = account.balance;
	pthread_mutex_unlock(&account.lock);
	return balance;
}

static void set_balance(int balance)
{
	pthread_mutex_lock(&account.lock);
	account.balance = balance;
	pthread_mutex_unlock(&account.lock);
}

#ifdef FIXED
static void withdraw(int amount, int fee)
{
	pthread_mutex_lock(&account.lock);
	if (amount + fee <= account.balance)
		account.balance -= amount + fee;
	pthread_mutex_unlock(&account.lock);
}
#else
static void withdraw(int amount, int fee)
{
	int total = amount + fee, balance = get_balance();

	if (total <= balance)
		set_balance(balance - total);
}
#endif

static void *alice(void *amount)
{
	withdraw(*(int *)amount, 0);
	return NULL;
}

static void *bob(void *amount)
{
	withdraw(*(int *)amount, 5);
	return NULL;
}

/* The amounts are the arguments, or else stand on standard input. */
int main(int argc, char **argv)
{
	int amount[2] = {0, 0};
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		if (argc > 2)
			amount[i] = atoi(argv[1 + i]);
		else if (scanf("%d", &amount[i]) != 1)
			return 2;
	set_balance(get_balance());
	pthread_create(&t[0], NULL, alice, &amount[0]);
	pthread_create(&t[1], NULL, bob, &amount[1]);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	printf("balance %d\n", account.balance);
	return 0;
}
