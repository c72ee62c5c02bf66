/* SPDX-License-Identifier: MIT */
/* Loses an update, and writes what a file says: something that no unit knows of. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long balance = 100;

static long get(void)
{
	long now;

	pthread_mutex_lock(&lock);
	now = balance;
	pthread_mutex_unlock(&lock);
	return now;
}

static void set(long now)
{
	pthread_mutex_lock(&lock);
	balance = now;
	pthread_mutex_unlock(&lock);
}

static void *withdraw(void *amount)
{
	set(get() - (long)amount);
	return NULL;
}

int main(void)
{
	char mood[16] = "";
	FILE *f = fopen("mood", "r");
	pthread_t other;

	if (f && fgets(mood, sizeof mood, f))
		puts(mood);
	if (f)
		fclose(f);
	pthread_create(&other, NULL, withdraw, (void *)10);
	withdraw((void *)20);
	pthread_join(other, NULL);
	return balance != 70;
}
