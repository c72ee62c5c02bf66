/* SPDX-License-Identifier: MIT */
/* A program that ends, or goes on, in many ways: ends HOW [NUMBER]. It writes 1000 cells of 2 bytes first. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile unsigned short cell;
static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	(void)number;
	signals = signals + 1;
}

static void work(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		cell = (unsigned short)i;
}

/* Until SIGINT has come, and then long enough for a second one. */
static int interrupted(void)
{
	struct sigaction a = {.sa_handler = count_signal};
	struct timespec moment = {0, 200000000};

	sigaction(SIGINT, &a, NULL);
	puts("ready");
	fflush(stdout);
	while (!signals)
		pause();
	while (nanosleep(&moment, NULL) != 0)
		;
	printf("%d signals\n", (int)signals);
	return 7;
}

/* Writes many more cells with nothing open but what it opens itself, which must not get a word of ours. */
static int close_all(void)
{
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	work(200000);
	return 5;
}

static void *busy(void *mutex)
{
	for (;;) {
		pthread_mutex_lock(mutex);
		work(10);
		pthread_mutex_unlock(mutex);
	}
	return NULL;
}

/* Becomes itself again so many times, each time with threads that are cut off in the middle of something. */
static int become(char **argv, int number)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_t thread;
	char left[16];

	if (number <= 0)
		return 9;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread, NULL, busy, &mutex) != 0)
			return 3;
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	snprintf(left, sizeof left, "%d", number - 1);
	execl(argv[0], argv[0], "exec", left, (char *)NULL);
	return 4;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int number = argc > 2 ? atoi(argv[2]) : 0;

	work(1000);
	printf("%s\n", how);
	fflush(stdout);
	if (strcmp(how, "return") == 0)
		return number;
	if (strcmp(how, "_exit") == 0)
		_exit(number);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "segv") == 0)
		*(volatile int *)(long)number = 1;
	if (strcmp(how, "raise") == 0)
		raise(number);
	if (strcmp(how, "interrupted") == 0)
		return interrupted();
	if (strcmp(how, "close_all") == 0)
		return close_all();
	if (strcmp(how, "close_stderr") == 0)
		return close(STDERR_FILENO) != 0;
	if (strcmp(how, "exec") == 0)
		return become(argv, number);
	if (strcmp(how, "forever") == 0)
		for (;;)
			work(1000);
	return 2;
}
