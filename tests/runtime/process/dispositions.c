/* SPDX-License-Identifier: MIT */
/* The program finds its signals as the tool found them: SIGPIPE is not the tool's. */
// SIGNALS: ignored
// EXPECT: w\(
#include <signal.h>
#include <stdio.h>

int main(void)
{
	sigset_t blocked;

	sigprocmask(SIG_SETMASK, NULL, &blocked);
	for (int i = 1; i < 65; i++) {
		struct sigaction a = {.sa_handler = SIG_DFL};

		if (sigaction(i, NULL, &a) == 0)
			printf("%d %d %d %d\n", i, a.sa_handler == SIG_DFL, a.sa_handler == SIG_IGN, sigismember(&blocked, i));
	}
	return 0;
}
