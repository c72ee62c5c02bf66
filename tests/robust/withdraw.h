/* SPDX-License-Identifier: MIT */
/*
 * What programs have in common in which signal handlers come up: only their withdraw is split, by deposit. What is over is
 * not.
 */
#ifndef FISSION_TESTS_ROBUST_WITHDRAW_H
#define FISSION_TESTS_ROBUST_WITHDRAW_H

#include "../programs/live/order.h"

enum { WARM = 50 }; /* calls after which it is known what a function does */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static long balance = 100;

static __attribute__((noinline)) int over(int locks)
{
	if (locks) {
		pthread_mutex_lock(&other);
		pthread_mutex_unlock(&other);
	}
	return locks + 1;
}

/* Between the halves of the round's withdraw. */
static void deposit(int round)
{
	turn(2 * round - 1);
	pthread_mutex_lock(&lock);
	balance += 5;
	pthread_mutex_unlock(&lock);
	turn_over();
}

#endif
