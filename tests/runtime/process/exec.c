/* SPDX-License-Identifier: MIT */
/* exec: one that fails changes nothing; then a program with threads becomes another, several times, by every form. */
// COUNT: 7 ^P\d+\.T\d+\|enter\(image\)
// COUNT: 1 ^T1\|enter\(image\)
// EXPECT: ^P9\.T\d+\|enter\(last\)
// COUNT: 2+ ^T2\|w\(
// EXPECT: ^T1\|enter\(after_failure\)
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int counter;
static int running;

static void *spin(void *p)
{
	pthread_mutex_lock(&lock);
	counter++;
	running = 1;
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < (int)(size_t)p; i++)
		counter++;
	for (;;)
		pause();
	return p;
}

static void start_thread(size_t rounds)
{
	pthread_t t;

	pthread_create(&t, NULL, spin, (void *)rounds);
	for (int seen = 0; !seen; pthread_mutex_unlock(&lock)) {
		pthread_mutex_lock(&lock);
		seen = running;
	}
}

static void after_failure(void) { counter++; }
static int last(void) { return counter += 7; }

static void become(int n, char *self)
{
	char digit[2] = {(char)('1' + n), 0}, *argv[] = {self, digit, "x", NULL}, *none[] = {NULL}, *some[] = {"A=b", NULL};
	const char *path = "/proc/self/exe";

	switch (n) {
	case 0: execl(path, self, digit, "x", NULL); break;
	case 1: execv(path, argv); break;
	case 2: execle(path, self, digit, "x", NULL, none); break;
	case 3: execve(path, argv, some); break;
	case 4: clearenv(); execlp(path, self, digit, "x", NULL); break;
	case 5: execvp(path, argv); break;
	case 6: execvpe(path, argv, none); break;
	case 7: fexecve(open(path, O_RDONLY | O_CLOEXEC), argv, none); break;
	}
}

static void image(int n, char *self)
{
	char *argv[] = {self, NULL};

	start_thread(n == 0 ? 1 << 30 : 1000);
	if (n == 0) {
		int result = execve("/nowhere/at/all", argv, argv + 1);

		printf("%d %s\n", result, strerror(errno));
		after_failure();
	}
	printf("%d %d\n", n, getenv("A") != NULL);
	fflush(stdout);
	become(n, self);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? argv[1][0] - '0' : 0;

	if (argc > 1 && (argc != 3 || strcmp(argv[2], "x") != 0))
		return 98;
	if (n == 8)
		return last();
	image(n, argv[0]);
	return 97;
}
