/* SPDX-License-Identifier: MIT */
/* Threads that wait in loops: for an atomic, for a plain variable, by trylock, by compare-and-exchange, by a spin lock. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int flag, lock;
static volatile int plain;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;
static int counter;

static void *wait_for_flag(void *unused)
{
	while (!atomic_load(&flag))
		;
	plain = 1;
	return unused;
}

static void *wait_for_plain(void *unused)
{
	while (!plain)
		;
	return unused;
}

static void *try(void *unused)
{
	int zero = 0;

	for (int i = 0; i < 5; i++) {
		while (pthread_mutex_trylock(&m) != 0)
			;
		counter++;
		pthread_mutex_unlock(&m);
		while (!atomic_compare_exchange_weak(&lock, &zero, 1))
			zero = 0;
		counter += 2;
		atomic_store(&lock, 0);
		pthread_spin_lock(&spin);
		counter += 4;
		pthread_spin_unlock(&spin);
	}
	return unused;
}

int main(void)
{
	void *(*const what[])(void *) = {wait_for_plain, wait_for_flag, try, try};
	pthread_t thread[4];

	pthread_spin_init(&spin, 0);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, what[i], NULL);
	for (int i = 0; i < 10; i++)
		sched_yield();
	atomic_store(&flag, 1);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	printf("%d\n", counter > 0);
	return 0;
}
