/* SPDX-License-Identifier: MIT */
/*
 * A signal handler that forks in the midst of accesses, hooks and looks: forks ROUNDS. The child returns from the handler and
 * goes on where its parent was interrupted, with the addresses that stand in registers there. Says how many did not get
 * through.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CELLS = 64, INTERVAL = 1000, ON = 10 };

static int cells[CELLS];
static volatile sig_atomic_t is_child, forks, lost, rounds;

static void handle(int signal)
{
	int status;
	pid_t child;

	(void)signal;
	if (is_child || forks >= rounds)
		return;
	child = fork();
	if (!child) {
		is_child = 1;
		return;
	}
	forks++;
	lost += child < 0 || waitpid(child, &status, 0) != child || status;
}

__attribute__((noinline)) static int add(void)
{
	int sum = 0;

	for (int i = 0; i < CELLS; i++)
		sum += cells[i]++;
	return sum;
}

static void *nothing(void *unused)
{
	return unused;
}

int main(int argc, char **argv)
{
	struct itimerval often = {{0, INTERVAL}, {0, INTERVAL}};
	pthread_t other;

	rounds = argc == 2 ? atoi(argv[1]) : 100;
	pthread_create(&other, NULL, nothing, NULL);
	pthread_join(other, NULL);
	signal(SIGALRM, handle);
	setitimer(ITIMER_REAL, &often, NULL);
	while (forks < rounds && !is_child)
		add();
	for (int i = 0; i < ON; i++)
		add();
	if (is_child)
		_exit(0);
	printf("%d of %d lost\n", (int)lost, (int)rounds);
	return 0;
}
