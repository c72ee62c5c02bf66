/* SPDX-License-Identifier: MIT */
/* Its children look at the input as well, and only the parent's way is followed. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../programs/inputs/shared.h"

static int code = 3;

static void *worker(void *unused)
{
	if (code == 31337)
		add(1);
	return unused;
}

int main(void)
{
	fission_input(&code, sizeof code, "code");
	for (int i = 0; i < 3; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(code == 5000 + i);
		waitpid(child, NULL, 0);
	}
	run_both(worker, worker);
	return 0;
}
