/* SPDX-License-Identifier: MIT */
/* Daemons outlive their parents, have closed everything, and are recorded to their end. */
// RUN: libc
// RUN: twice
// RUN: atonce
// COUNT: 1 ^P\d+\.T\d+\|enter\(serve\)
// COUNT: 1000+ ^P\d+\.T\d+\|w\(
// EXPECT: ^P\d+\.T\d+\|exit\(serve\)
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile int served;

/* Until it belongs to somebody else; not for ever. */
static void wait_for_orphanage(pid_t parent)
{
	struct timespec nap = {0, 1000000};

	for (int i = 0; i < 10000 && getppid() == parent; i++)
		nanosleep(&nap, NULL);
}

static void serve(void)
{
	for (int i = 0; i < 1000; i++)
		served++;
}

static void twice(void)
{
	if (fork() != 0)
		_exit(7);
	setsid();
	if (fork() != 0)
		_exit(0);
	for (int fd = 0; fd < 256; fd++)
		close(fd);
}

int main(int argc, char **argv)
{
	pid_t me = getpid();

	if (argc < 2)
		return 99;
	printf("start\n");
	fflush(stdout);
	if (strcmp(argv[1], "libc") == 0) {
		if (daemon(0, 0) != 0)
			return 98;
		wait_for_orphanage(me);
	} else if (strcmp(argv[1], "twice") == 0) {
		twice();
	} else if (fork() != 0) {
		_exit(0);
	}
	serve();
	return 0;
}
