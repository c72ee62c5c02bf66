/* SPDX-License-Identifier: MIT */
/*
 * Handlers that leave by siglongjmp, again and again, in the middle of accesses, calls and copies: the hook that was
 * interrupted is never finished, and the ring goes on all the same. What was done at the end is in the trace.
 */
// RUN: plain
// RUN: stack
// CC: gcc clang
// EXPECT: T1\|enter\(last\)
// COUNT: 300+ T1\|enter\(jump_out\)
// ORDER: exit\(deep\) ;; enter\(last\) ;; exit\(last\) ;; exit\(main\)
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

enum { JUMPS = 300 };

static sigjmp_buf back;
static volatile sig_atomic_t jumps;
static volatile int sum, handled;
static char from[64], to[64];

static void jump_out(int number)
{
	(void)number;
	handled++;
	jumps++;
	siglongjmp(back, 1);
}

static void deep(int n)
{
	sum += n;
	memcpy(to, from, (size_t)n);
	if (n)
		deep(n - 1);
}

static void rounds(void)
{
	while (jumps < JUMPS) {
		sum++;
		deep(5);
	}
}

static void last(void) { sum = 1; }

int main(int argc, char **argv)
{
	static char stack[1 << 16];
	stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction a = {.sa_handler = jump_out};
	struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};

	if (argc > 1 && strcmp(argv[1], "stack") == 0) {
		sigaltstack(&own, NULL);
		a.sa_flags = SA_ONSTACK;
	}
	sigaction(SIGALRM, &a, NULL);
	if (sigsetjmp(back, 1) == 0)
		setitimer(ITIMER_REAL, &often, NULL);
	if (jumps < JUMPS)
		rounds();
	setitimer(ITIMER_REAL, &never, NULL);
	last();
	printf("%d\n", jumps >= JUMPS);
	return 0;
}
