/* SPDX-License-Identifier: MIT */
/*
 * Handlers that do more than a ring holds, on top of a hook that they have interrupted: what has no room is lost and
 * counted, and nobody waits for himself. Handlers within handlers, on a stack of their own, handlers that are reset.
 */
// LOST: events were lost
// EXPECT: enter\(outer\)
// EXPECT: enter\(inner\)
// EXPECT: enter\(once\)
// ORDER: enter\(last\) ;; exit\(last\) ;; exit\(main\)
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

enum { HANDLED = 10, LONG = 50000 };

static volatile int handled, sum, nested, reset;

static void inner(int number)
{
	(void)number;
	for (int i = 0; i < 100; i++)
		sum++;
	nested++;
}

static void outer(int number)
{
	(void)number;
	raise(SIGUSR1);
	for (int i = 0; i < LONG; i++)
		sum++;
	raise(SIGUSR1);
	handled++;
}

static void once(int number)
{
	(void)number;
	reset++;
}

static void last(void) { sum = 1; }

int main(void)
{
	static char stack[1 << 16];
	stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction a = {.sa_handler = outer, .sa_flags = SA_ONSTACK}, b = {.sa_handler = inner},
		c = {.sa_handler = once, .sa_flags = SA_RESETHAND}, now;
	struct itimerval soon = {{0, 0}, {0, 1000}};

	sigaltstack(&own, NULL);
	sigaction(SIGALRM, &a, NULL);
	sigaction(SIGUSR1, &b, NULL);
	sigaction(SIGUSR2, &c, NULL);
	raise(SIGUSR2);
	sigaction(SIGUSR2, NULL, &now);
	for (int k = 0; k < HANDLED; k++) {
		setitimer(ITIMER_REAL, &soon, NULL);
		while (handled == k)
			sum++;
	}
	last();
	printf("%d %d\n", reset, now.sa_handler == SIG_DFL);
	return 0;
}
