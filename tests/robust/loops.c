/* SPDX-License-Identifier: MIT */
/*
 * Loops that go over memory in steps, which are counted instead of told one by one, others that go to and fro, and a
 * signal handler that has one of its own: loops ROUNDS, or `loops killed`, which ends in the middle of one. Says how often
 * the handler ran.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { CELLS = 64, END = 40 };

long cells[CELLS], others[CELLS], kept[CELLS], sum, other_sum;
static volatile sig_atomic_t handled;

static void handle(int signal)
{
	long s = 0;

	(void)signal;
	for (int i = 0; i < CELLS; i++)
		s += others[i];
	other_sum = s;
	handled++;
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

static void interrupt_each(int microseconds)
{
	struct itimerval t = {{0, microseconds}, {0, microseconds}};

	signal(SIGALRM, handle);
	setitimer(ITIMER_REAL, &t, NULL);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "killed") == 0) {
		go(END);
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
