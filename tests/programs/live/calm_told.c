/* SPDX-License-Identifier: MIT */
/* expect: violation block=withdraw variable=balance rank=1 verdict=observed */
/*
 * Alice waits in a function that was told because of what it reads, while two others call it again and again: it must not
 * lose its hooks before she has left it.
 */
#include "order.h"

enum { CALLS = 300000, RETURN, WAIT };

static long shared;

static __attribute__((noinline)) long reads(int what)
{
	long r = 0;

	if (what == WAIT) {
		r = shared;
		turn_over();
		turn(2);
	}
	return r + what;
}

static void *many(void *p)
{
	for (int i = 0; i < CALLS; i++)
		reads(RETURN);
	return p;
}

static void call_often(void)
{
	turn(1);
	in_two_threads(many, many);
	turn_over();
}

#define LEAVE reads(WAIT)
#define MEANWHILE call_often()

#include "left.h"

/* Before alice begins: so what she reads is another thread's. */
__attribute__((constructor)) static void begin(void)
{
	shared = 7;
}
