/* SPDX-License-Identifier: MIT */
/*
 * As left.c, but nothing is left to chance: the processor stops after each instruction of a call, and at two of them,
 * which are others in each round, a signal handler locks. So every two moments of the hooks come up that lie at most so
 * many instructions apart as the first argument says. With a second one what is called locks, too. Only withdraw is not
 * atomic.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "withdraw.h"

enum { TRAPS = 0x100 };

static pthread_mutex_t handlers = PTHREAD_MUTEX_INITIALIZER;
static volatile int steps, first, second, apart, locks_too, done;

static __attribute__((noinline)) void handle(void)
{
	pthread_mutex_lock(&handlers);
	pthread_mutex_unlock(&handlers);
}

/* Without hooks of its own: it comes at each instruction. */
static __attribute__((no_sanitize("thread"))) void step(int number)
{
	(void)number;
	steps++;
	if (steps == first || steps == second)
		handle();
}

static inline __attribute__((always_inline)) void stop_at_each(int whether)
{
	unsigned long flags;

	__asm__ volatile("pushfq\n\tpopq %0" : "=r"(flags) : : "memory");
	flags = whether ? flags | TRAPS : flags & ~(unsigned long)TRAPS;
	__asm__ volatile("pushq %0\n\tpopfq" : : "r"(flags) : "memory", "cc");
}

static __attribute__((noinline)) void withdraw(int round)
{
	long now;

	if (locks_too)
		handle(); /* withdraw is known before */
	stop_at_each(1);
	over(locks_too);
	stop_at_each(0);
	pthread_mutex_lock(&lock);
	now = balance;
	pthread_mutex_unlock(&lock);
	turn_over();
	turn(2 * round);
	pthread_mutex_lock(&lock);
	balance = now - 1;
	pthread_mutex_unlock(&lock);
}

/* How many steps there are without a handler. */
static int withdraw_alone(void)
{
	first = second = 0;
	steps = 0;
	withdraw(1);
	return steps;
}

static void *alice(void *p)
{
	int round = 1, last;

	for (int i = 0; i < WARM; i++)
		over(1);
	handle();
	last = withdraw_alone();
	for (first = 1; first <= last; first++)
		for (second = first + !!apart; second <= first + apart; second++) {
			steps = 0;
			withdraw(++round);
		}
	done = 1;
	turn_over();
	return p;
}

static void *bob(void *p)
{
	for (int i = 1;; i++) {
		turn(2 * i - 1);
		if (done)
			return p;
		deposit(i);
	}
}

int main(int count, char **word)
{
	struct sigaction a = {.sa_handler = step};

	apart = count > 1 ? atoi(word[1]) : 1;
	locks_too = count > 2;
	sigaction(SIGTRAP, &a, NULL);
	in_two_threads(alice, bob);
	printf("%s\n", steps > 1 ? "stepped" : "not stepped");
	return 0;
}
