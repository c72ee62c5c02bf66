/* SPDX-License-Identifier: MIT */
/* expect: none-shown */
/*
 * Functions that lock only after thousands of calls without, when their hooks are gone: once they have locked, they are
 * what a recording has. Directly, through others, in recursion, in a signal handler, and after being left by a jump.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

#include "order.h"

enum { CALLS = 5000, DEEP = 20, ROUNDS = 4 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, warm = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *handled;
static jmp_buf away;
static int sum;

/* Between the two sections Bob has one of his own, if it is the one that counts. */
#define SECTION(o) (pthread_mutex_lock(o), pthread_mutex_unlock(o))
#define SECTIONS(o) ((o) ? (SECTION(o), let_bob(o), SECTION(o)) : 0)

UNSEEN UNSEEN_MORE static void let_bob(const pthread_mutex_t *o)
{
	int now = order_turns;

	if (o != &m)
		return;
	turn_over();
	turn(now + 2);
}

static __attribute__((noinline)) int late(pthread_mutex_t *o, int n)
{
	sum += n;
	SECTIONS(o);
	return sum & 1;
}

static __attribute__((noinline)) int outer(pthread_mutex_t *o, int n)
{
	int odd = late(o, n);

	sum += odd;
	return odd;
}

static __attribute__((noinline)) int down(pthread_mutex_t *o, int n)
{
	if (n)
		return down(o, n - 1) + 1;
	SECTIONS(o);
	return 0;
}

static __attribute__((noinline)) void handle(int number)
{
	(void)number;
	sum++;
	SECTIONS(handled);
}

static __attribute__((noinline)) void interrupted(pthread_mutex_t *o)
{
	handled = o;
	if (o || sum % 64 == 0)
		raise(SIGUSR1);
	sum++;
}

static __attribute__((noinline)) void jumps(int n)
{
	sum += n;
	if (n % 4 == 0)
		longjmp(away, 1);
}

static __attribute__((noinline)) void catches(pthread_mutex_t *o, int n)
{
	if (setjmp(away) == 0)
		jumps(n);
	SECTIONS(o);
}

static void everything(pthread_mutex_t *o, int n)
{
	outer(o, n);
	down(o, o ? 2 : n % DEEP);
	interrupted(o);
	catches(o, n);
}

static void *alice(void *p)
{
	for (int i = 0; i < CALLS; i++)
		everything(NULL, i);
	for (int i = 0; i < ROUNDS; i++)
		everything(&warm, i);
	everything(&m, 4);
	turn_over();
	return p;
}

static void *bob(void *p)
{
	for (int i = 1; i <= 7; i += 2) {
		turn(i);
		pthread_mutex_lock(&m);
		pthread_mutex_unlock(&m);
		turn_over();
	}
	return p;
}

int main(void)
{
	signal(SIGUSR1, handle);
	in_two_threads(alice, bob);
	printf("%d\n", sum);
	return 0;
}
