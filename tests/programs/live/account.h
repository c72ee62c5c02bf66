/* SPDX-License-Identifier: MIT */
/* An account whose every access is under its lock. */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long balance = 100;

static long get(void)
{
	pthread_mutex_lock(&lock);
	long now = balance;
	pthread_mutex_unlock(&lock);
	return now;
}

static void set(long to)
{
	pthread_mutex_lock(&lock);
	balance = to;
	pthread_mutex_unlock(&lock);
}

#endif
