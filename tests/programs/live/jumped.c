/* SPDX-License-Identifier: MIT */
/* expect: violation block=withdraw variable=balance rank=1 verdict=observed */
/* A function is left by a jump, before anything was told of it, and what is called then has lost its hooks. */
#include <setjmp.h>

#include "order.h"

enum { CALLS = 5000 };

static jmp_buf away;

static __attribute__((noinline)) void jumps(int n)
{
	if (n)
		longjmp(away, 1);
}

static __attribute__((noinline)) void calm(void)
{
	__asm__ volatile(""); /* both threads come here, in no order that is known: it touches nothing */
}

static void call_often(void)
{
	for (int i = 0; i < CALLS; i++)
		calm();
	turn_over();
}

#define LEAVE \
	turn(1); \
	if (setjmp(away) == 0) \
		jumps(1); \
	calm()
#define MEANWHILE call_often()

#include "left.h"
