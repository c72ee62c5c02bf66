/* SPDX-License-Identifier: MIT */
/* makecontext and swapcontext: functions may be closed too early, but nothing breaks. */
// EXPECT: enter\(coroutine\)
// EXPECT: exit\(main\)
#include <stdio.h>
#include <ucontext.h>

static ucontext_t here, there;
static volatile int steps;

static void coroutine(void)
{
	for (int i = 0; i < 100; i++) {
		steps++;
		swapcontext(&there, &here);
	}
}

int main(void)
{
	static _Alignas(16) char stack[1 << 16];

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof stack;
	there.uc_link = &here;
	makecontext(&there, coroutine, 0);
	for (int i = 0; i < 100; i++)
		swapcontext(&here, &there);
	printf("%d\n", steps);
	return 0;
}
