/* SPDX-License-Identifier: MIT */
/*
 * Loops that go over memory in steps, which are counted instead of told one by one, others that go to and fro, and a
 * signal handler that has one of its own: loops ROUNDS; `loops killed`, which ends in the middle of one; or `loops jump
 * ROUNDS`, where the handler leaves them by siglongjmp, and whatever hook it has interrupted. Says how often the handler
 * ran.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { CELLS = 64, END = 40 };

long cells[CELLS], others[CELLS], kept[CELLS], sum, other_sum;
static volatile sig_atomic_t handled, jumps;
static sigjmp_buf away;

static void handle(int signal)
{
	long s = 0;

	(void)signal;
	for (int i = 0; i < CELLS; i++)
		s += others[i];
	other_sum = s;
	handled++;
	if (jumps)
		siglongjmp(away, 1);
}

static __attribute__((noinline)) void go(int end)
{
	long s = 0;

	for (int i = 0; i < CELLS; i++) {
		s += cells[i];
		cells[i] = s;
		if (i == end)
			raise(SIGKILL);
	}
	sum = s;
}

static __attribute__((noinline)) void hop(void)
{
	for (unsigned i = 0; i < CELLS; i++)
		kept[i] = cells[i * i % CELLS];
	sum = 0;
}

static void interrupt(int first, int each)
{
	struct itimerval t = {{0, each}, {0, first}};

	signal(SIGALRM, handle);
	setitimer(ITIMER_REAL, &t, NULL);
}

static void interrupt_each(int microseconds)
{
	interrupt(microseconds, microseconds);
}

static void go_and_be_left(long rounds)
{
	static volatile long n;
	static volatile int seen;

	interrupt(50, 0);
	for (n = rounds; n; n--) {
		if (sigsetjmp(away, 1) == 0) {
			jumps = 1;
			go(-1);
			hop();
		}
		jumps = 0;
		if (seen == handled)
			continue;
		seen = handled;
		interrupt(50, 0); /* only now: on a slow machine each jump would be left for the next one */
	}
	interrupt(0, 0);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "killed") == 0) {
		go(END);
	} else if (argc == 3 && strcmp(argv[1], "jump") == 0) {
		go_and_be_left(atol(argv[2]));
	} else {
		interrupt_each(50);
		for (long n = argc > 1 ? atol(argv[1]) : 1; n; n--) {
			go(-1);
			hop();
		}
		interrupt_each(0);
	}
	printf("%d\n", (int)handled);
	return 0;
}
