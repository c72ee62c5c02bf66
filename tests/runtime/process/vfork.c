/* SPDX-License-Identifier: MIT */
/* vfork: a child that ends, one whose exec fails, one that becomes another program. Its parent goes on as before. */
// ORDER: T1\|enter\(before\) ;; T1\|enter\(after\)
// COUNT: 1 ^P2\.T\d+\|enter\(second\)
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int touched;

static void before(void) { touched++; }
static void after(void) { touched++; }
static int second(void) { touched += 5; return touched; }

static int status_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	char *again[] = {argv[0], "second", NULL}, *nothing[] = {NULL};
	pid_t pid;

	if (argc > 1)
		return second();
	before();
	pid = vfork();
	if (pid == 0) {
		touched++;
		_exit(3);
	}
	printf("%d %d\n", status_of(pid), touched);
	pid = vfork();
	if (pid == 0) {
		execve("/nowhere/at/all", again, nothing);
		_exit(4);
	}
	printf("%d\n", status_of(pid));
	pid = vfork();
	if (pid == 0) {
		execv("/proc/self/exe", again);
		_exit(5);
	}
	printf("%d\n", status_of(pid));
	after();
	printf("%d\n", touched);
	return 0;
}
