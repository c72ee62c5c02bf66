/* SPDX-License-Identifier: MIT */
/*
 * A signal handler that locks comes while a function is left, which has no part in what is split then: prints how many
 * rounds there were. Only withdraw is not atomic.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

#include "withdraw.h"

enum { ROUNDS = 8000, PATIENCE = 1000000, EVERY = 40 /* microseconds */ };

static volatile int handled;

static void handle(int number)
{
	(void)number;
	pthread_mutex_lock(&other);
	pthread_mutex_unlock(&other);
	handled++;
}

static __attribute__((noinline)) void withdraw(int round)
{
	long now;

	for (int before = handled, n = 0; handled == before && n < PATIENCE; n++)
		over(0);
	pthread_mutex_lock(&lock);
	now = balance;
	pthread_mutex_unlock(&lock);
	turn_over();
	turn(2 * round);
	pthread_mutex_lock(&lock);
	balance = now - 1;
	pthread_mutex_unlock(&lock);
}

static void ring(int microseconds)
{
	struct itimerval t = {{0, microseconds}, {0, microseconds}};

	setitimer(ITIMER_REAL, &t, NULL);
}

static void *alice(void *p)
{
	sigset_t all;

	for (int i = 0; i < WARM; i++)
		over(1);
	sigfillset(&all);
	pthread_sigmask(SIG_UNBLOCK, &all, NULL);
	ring(EVERY);
	for (int i = 1; i <= ROUNDS; i++)
		withdraw(i);
	ring(0);
	return p;
}

static void *bob(void *p)
{
	for (int i = 1; i <= ROUNDS; i++)
		deposit(i);
	return p;
}

int main(void)
{
	struct sigaction a = {.sa_handler = handle, .sa_flags = SA_RESTART};
	sigset_t all;

	sigaction(SIGALRM, &a, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	in_two_threads(alice, bob);
	printf("%d rounds\n", ROUNDS);
	return 0;
}
