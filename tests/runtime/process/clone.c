/* SPDX-License-Identifier: MIT */
/* clone: as fork with a stack, and as vfork. */
// COUNT: 1 ^P2\.T2\|enter\(apart\)
// COUNT: 1 ^T1\|enter\(together\)
// EXPECT: ^T1\|fork\(P2\.T2\)
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

static int x;

static int apart(void *p) { x += 3; return x + *(int *)p; }
static int together(void *p) { x += 4; return x + *(int *)p; }

static int run(int (*f)(void *), int flags)
{
	static _Alignas(64) char stack[1 << 18];
	int add = 10, status = -1, pid = clone(f, stack + sizeof stack, flags | SIGCHLD, &add);

	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

int main(void)
{
	printf("%d %d\n", run(apart, 0), x);
	printf("%d %d\n", run(together, CLONE_VM | CLONE_VFORK), x);
	return 0;
}
