/* SPDX-License-Identifier: MIT */
/*
 * A withdrawal that is split. Before its sections stands LEAVE, which calls functions that are over by then, whatever the
 * library knows of them: they must not be taken for open. Before the deposit stands MEANWHILE.
 */
#ifndef LEFT_H
#define LEFT_H

#include <stdio.h>

#include "order.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long balance = 100;
static volatile int seen, deposited;

UNSEEN UNSEEN_MORE static void wait_for(const volatile int *what)
{
	while (!*what)
		sched_yield();
	__asm__ volatile("mfence" ::: "memory");
}

UNSEEN UNSEEN_MORE static void is_done(volatile int *what)
{
	__asm__ volatile("mfence" ::: "memory");
	*what = 1;
}

/* Beside LEAVE it calls nothing that has hooks: that would clear away what was left. */
static __attribute__((noinline)) void withdraw(long amount)
{
	long now;

	LEAVE;
	pthread_mutex_lock(&lock);
	now = balance;
	pthread_mutex_unlock(&lock);
	is_done(&seen);
	wait_for(&deposited);
	pthread_mutex_lock(&lock);
	balance = now - amount;
	pthread_mutex_unlock(&lock);
}

static __attribute__((noinline)) void deposit(long amount)
{
	pthread_mutex_lock(&lock);
	balance += amount;
	pthread_mutex_unlock(&lock);
}

static void *alice(void *p)
{
	withdraw(10);
	return p;
}

static void *bob(void *p)
{
	MEANWHILE;
	wait_for(&seen);
	deposit(50);
	is_done(&deposited);
	return p;
}

int main(void)
{
	in_two_threads(alice, bob);
	printf("%ld\n", balance);
	return 0;
}

#endif
