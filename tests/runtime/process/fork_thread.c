/* SPDX-License-Identifier: MIT */
/* A thread that is not the first one forks; its functions in the child are left one by one. Many forks in a row. */
// COUNT: 20 ^T2\|fork\(P\d+\.T\d+\)
// COUNT: 20 ^P\d+\.T\d+\|enter\(deep\)
// COUNT: 20 ^P\d+\.T\d+\|exit\(deep\)
// NEVER: T1\|fork\(P
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int sum;

static int deep(int n)
{
	sum += n;
	return sum;
}

static void *forks(void *p)
{
	int all = 0;

	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			exit(deep(i));
		waitpid(pid, &status, 0);
		all += WEXITSTATUS(status);
	}
	printf("%d\n", all);
	return p;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, forks, NULL);
	pthread_join(t, NULL);
	return 0;
}
