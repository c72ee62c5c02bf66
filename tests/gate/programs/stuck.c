/* SPDX-License-Identifier: MIT */
/* A thread blocks in a system call of its own making, with the turn: nobody can see that but the watchdog. */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static int ends[2];

static void *run(void *unused)
{
	char byte;

	syscall(SYS_read, ends[0], &byte, 1);
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pipe(ends) != 0)
		return 1;
	pthread_create(&thread, NULL, run, NULL);
	pthread_join(thread, NULL);
	return 0;
}
