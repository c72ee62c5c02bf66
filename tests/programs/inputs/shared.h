/* SPDX-License-Identifier: MIT */
/* What the programs of this folder share: a counter whose update is two sections, unless FIXED makes it one. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fission.h>

static int total;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER, whole = PTHREAD_MUTEX_INITIALIZER;

static int total_now(void)
{
	int n;

	pthread_mutex_lock(&guard);
	n = total;
	pthread_mutex_unlock(&guard);
	return n;
}

#ifdef PROGRAM
static int writes; /* for random testing: chance.h */
#endif

static void total_is(int n)
{
	pthread_mutex_lock(&guard);
	total = n;
#ifdef PROGRAM
	writes++;
#endif
	pthread_mutex_unlock(&guard);
}

/* The bug: what another thread adds in between is lost. */
static void add(int n)
{
#ifdef FIXED
	pthread_mutex_lock(&whole);
#endif
	int before = total_now();

	total_is(before + n);
#ifdef FIXED
	pthread_mutex_unlock(&whole);
#endif
}

static void run_both(void *(*one)(void *), void *(*two)(void *))
{
	pthread_t a, b;

	pthread_create(&a, NULL, one, NULL);
	pthread_create(&b, NULL, two, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", total);
	(void)whole;
}
