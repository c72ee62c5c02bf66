/* SPDX-License-Identifier: MIT */
/*
 * Three threads. audit() adds up three accounts, one locked read at a time. No single transfer can make it wrong: it takes
 * two, by two other threads, one after the other, from the account that was read to the one in between and on to the one
 * that was not. Visible: money is counted twice, exit status 1.
 */
// EXPECT function=audit variable=savings.money,giro.money,depot.money live=blocks
#include <pthread.h>
#include <stdio.h>

struct account {
	pthread_mutex_t lock;
	int money;
};

static struct account savings = {PTHREAD_MUTEX_INITIALIZER, 60};
static struct account giro = {PTHREAD_MUTEX_INITIALIZER, 30};
static struct account depot = {PTHREAD_MUTEX_INITIALIZER, 10};
static int total;

/* Accounts are locked in the order of the line above. */
static void transfer(struct account *first, struct account *second, int money)
{
	pthread_mutex_lock(&first->lock);
	pthread_mutex_lock(&second->lock);
	first->money -= money;
	second->money += money;
	pthread_mutex_unlock(&second->lock);
	pthread_mutex_unlock(&first->lock);
}

#ifdef FIXED
static int audit(void)
{
	pthread_mutex_lock(&savings.lock);
	pthread_mutex_lock(&giro.lock);
	pthread_mutex_lock(&depot.lock);
	int sum = savings.money + depot.money + giro.money;
	pthread_mutex_unlock(&depot.lock);
	pthread_mutex_unlock(&giro.lock);
	pthread_mutex_unlock(&savings.lock);
	return sum;
}
#else
static int money_of(struct account *a)
{
	pthread_mutex_lock(&a->lock);
	int money = a->money;
	pthread_mutex_unlock(&a->lock);
	return money;
}

static int audit(void)
{
	int sum = money_of(&savings);

	sum += money_of(&depot);
	return sum + money_of(&giro);
}
#endif

static void *auditor(void *arg)
{
	(void)arg;
	total = audit();
	return NULL;
}

static void *saver(void *arg)
{
	(void)arg;
	transfer(&savings, &giro, 20);
	return NULL;
}

static void *investor(void *arg)
{
	(void)arg;
	transfer(&giro, &depot, 10);
	return NULL;
}

int main(void)
{
	void *(*role[])(void *) = {auditor, saver, investor};
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, role[i], NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("total: %d\n", total);
	return total != 100;
}
