// SPDX-License-Identifier: MIT
// Functions that are not atomic, in the same order of steps each time; -DWORD= what is said about them, -DGUARD, -DBLOCK.
#include <fission.h>
#include <pthread.h>
#include <semaphore.h>

#ifndef WORD
#define WORD
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t read_it, changed_it;
static long balance = 100;
static long racy;

static long get(void)
{
	long now;

	pthread_mutex_lock(&mutex);
	now = balance;
	pthread_mutex_unlock(&mutex);
	return now;
}

static void set(long to)
{
	pthread_mutex_lock(&mutex);
	balance = to;
	pthread_mutex_unlock(&mutex);
}

WORD void withdraw(long amount);

void withdraw(long amount)
{
	long now;

#ifdef BLOCK
	FISSION_ATOMIC_BEGIN("withdrawal");
#endif
	now = get();
	sem_post(&read_it);
	sem_wait(&changed_it);
	set(now - amount);
#ifdef BLOCK
	FISSION_ATOMIC_END("withdrawal");
#endif
}

static void *other(void *argument)
{
	sem_wait(&read_it);
	set(50);
	sem_post(&changed_it);
	racy++;
	return argument;
}

int main(void)
{
	pthread_t t;

	fission_name(&mutex, "the mutex");
#ifdef GUARD
	fission_assume_guarded(&racy, sizeof racy);
#endif
	sem_init(&read_it, 0, 0);
	sem_init(&changed_it, 0, 0);
	pthread_create(&t, NULL, other, NULL);
	withdraw(10); fission_no_warn();
#ifdef QUIET
	racy++; fission_no_warn();
#else
	racy++;
#endif
	pthread_join(t, NULL);
	return 0;
}
