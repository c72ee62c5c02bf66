/* SPDX-License-Identifier: MIT */
/* fork, vfork and exec inside of marked frames. blame: add   never: get put */
#include "blame.h"

#include <sys/wait.h>

static PART int child(int depth)
{
	put(depth);
	if (depth)
		return child(depth - 1) + 1;
	return fork();
}

static PART void add(void)
{
	long v = get();

	intrude();
	put(v + 1);
	KEEP;
}

static PART int spawn(const char *self)
{
	pid_t pid;
	int status;

	put(1);
	pid = vfork();
	if (pid == 0) {
		execl(self, self, "again", (char *)NULL);
		_exit(9);
	}
	waitpid(pid, &status, 0);
	put(2);
	return WEXITSTATUS(status);
}

static PART int forked(void)
{
	int pid = child(5), status;

	if (pid == 5) {
		put(7);
		printf("child %ld\n", get() > 0);
		fflush(stdout);
		_exit(4);
	}
	waitpid(pid - 5, &status, 0);
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	begin();
	if (argc > 1) {
		put(3);
		return 6;
	}
	printf("%d\n", forked());
	fflush(stdout);
	printf("%d\n", spawn(argv[0]));
	for (int i = 0; i < 2; i++)
		add();
	return 0;
}
