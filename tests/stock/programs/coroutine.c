/* SPDX-License-Identifier: MIT */
/*
 * makecontext: frames on other stacks, left and come back to. There a call that is repeated from the same place looks
 * like one, so that put() is blamed, and fission-cc does not know of other stacks. blame: add   never: get   alone
 */
#include "blame.h"

#include <ucontext.h>

static ucontext_t outside, inside[2];
static long steps;

static PART void step(int which)
{
	put(get() + which);
	steps++;
	swapcontext(&inside[which], &outside);
	KEEP;
}

static void body(int which)
{
	for (int i = 0; i < 5; i++)
		step(which);
}

static PART void resume(int which)
{
	put(1);
	swapcontext(&outside, &inside[which]);
	KEEP;
}

static PART void add(void)
{
	long v = get();

	intrude();
	put(v + 1);
	KEEP;
}

int main(void)
{
	begin();
	for (int i = 0; i < 2; i++) {
		getcontext(&inside[i]);
		inside[i].uc_stack.ss_sp = malloc(1 << 16);
		inside[i].uc_stack.ss_size = 1 << 16;
		inside[i].uc_link = &outside;
		makecontext(&inside[i], (void (*)(void))body, 1, i);
	}
	for (int i = 0; i < 12; i++)
		resume(i & 1);
	for (int i = 0; i < 2; i++)
		add();
	printf("%ld\n", steps);
	return 0;
}
