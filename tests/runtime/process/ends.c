/* SPDX-License-Identifier: MIT */
/* Every way to end: what was done until then is recorded, handlers of exit and destructors too. */
// RUN: exit
// RUN: _exit
// RUN: _Exit
// RUN: quick_exit
// RUN: abort
// RUN: segv
// RUN: kill
// RUN: main_thread
// EXPECT: T1\|enter\(work\)
// COUNT: 1000+ T1\|w\(
// EXPECT: T1\|enter\(last_(function|handler|thread)\)|T2\|enter\(last_thread
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int counter;

static void work(void)
{
	for (int i = 0; i < 1000; i++)
		counter++;
}

static void last_handler(void) { counter++; }
static void last_function(void) { counter++; }

static void *last_thread(void *p)
{
	counter++;
	puts("thread");
	fflush(stdout);
	return p;
}

static void end(const char *how)
{
	pthread_t t;

	if (strcmp(how, "exit") == 0)
		exit(3);
	last_function();
	if (strcmp(how, "_exit") == 0)
		_exit(4);
	if (strcmp(how, "_Exit") == 0)
		_Exit(5);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(6);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "segv") == 0)
		*(volatile int *)8 = 1;
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	pthread_create(&t, NULL, last_thread, NULL);
	pthread_exit(NULL);
}

int main(int argc, char **argv)
{
	atexit(last_handler);
	at_quick_exit(last_handler);
	work();
	end(argc > 1 ? argv[1] : "");
	return 0;
}
