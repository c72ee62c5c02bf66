/* SPDX-License-Identifier: MIT */
/*
 * Signal handlers that lock run on a stack of their own, which lies above that of the thread, or, with an argument, in the
 * frame of a function that is around all: one returns, and one jumps away. They come while withdraw is open, which is not
 * atomic, and is the only one.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "withdraw.h"

enum { ROUNDS = 20, BYTES = 1 << 18 };

static _Alignas(4096) char stacks[2 * BYTES]; /* the thread's, and the handlers' */
static bool within;
static sigjmp_buf away;

static void handle(int number)
{
	(void)number;
	over(1);
	over(1);
}

static void jump(int number)
{
	(void)number;
	over(1);
	siglongjmp(away, 1);
}

static __attribute__((noinline)) void withdraw(int round)
{
	long now;

	over(1);
	raise(SIGUSR1);
	if (sigsetjmp(away, 1) == 0)
		raise(SIGUSR2);
	pthread_mutex_lock(&lock);
	now = balance;
	pthread_mutex_unlock(&lock);
	turn_over();
	turn(2 * round);
	raise(SIGUSR1);
	pthread_mutex_lock(&lock);
	balance = now - 1;
	pthread_mutex_unlock(&lock);
}

static void *alice(void *p)
{
	char here[BYTES / 2];
	stack_t own = {.ss_sp = within ? here : stacks + BYTES, .ss_size = sizeof here};

	if (sigaltstack(&own, NULL) != 0)
		abort();
	for (int i = 0; i < WARM; i++)
		over(1);
	for (int i = 1; i <= ROUNDS; i++)
		withdraw(i);
	return p;
}

static void *bob(void *p)
{
	for (int i = 1; i <= ROUNDS; i++)
		deposit(i);
	return p;
}

int main(int count, char **word)
{
	struct sigaction a = {.sa_handler = handle, .sa_flags = SA_ONSTACK}, b = {.sa_handler = jump, .sa_flags = SA_ONSTACK};
	pthread_attr_t attributes;
	pthread_t low, other_thread;

	(void)word;
	within = count > 1;
	sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGUSR2, &b, NULL);
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stacks, BYTES);
	pthread_create(&low, &attributes, alice, NULL);
	pthread_create(&other_thread, NULL, bob, NULL);
	pthread_join(low, NULL);
	pthread_join(other_thread, NULL);
	printf("%d rounds\n", ROUNDS);
	return 0;
}
