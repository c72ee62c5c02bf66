/* SPDX-License-Identifier: MIT */
#include "helper.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static pid_t start(char **words, int *out)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		int nothing = open("/dev/null", O_RDWR);

		dup2(nothing, 0);
		dup2(ends[1], 1);
		dup2(nothing, 2);
		execv(words[0], words);
		_exit(127);
	}
	close(ends[1]);
	*out = ends[0];
	if (pid < 0)
		close(ends[0]);
	return pid;
}

/* All it says. False if its time is over before it has said all. */
static bool listen_to(int fd, long until, struct str *to)
{
	char buffer[4096];
	struct pollfd p = {.fd = fd, .events = POLLIN};
	ssize_t n;

	for (;;) {
		long left = until - now();

		if (left <= 0 || poll(&p, 1, (int)left) < 0)
			return false;
		n = p.revents ? read(fd, buffer, sizeof buffer) : 0;
		if (p.revents && n <= 0)
			return true;
		str_bytes(to, buffer, (size_t)n);
	}
}

enum helper_end helper_run(char **words, long milliseconds, struct str *to)
{
	int out;
	pid_t pid = start(words, &out);
	bool good;

	if (pid < 0)
		return HELPER_NONE;
	str_add(to, "");
	good = listen_to(out, now() + milliseconds, to);
	if (!good)
		kill(pid, SIGKILL);
	close(out);
	waitpid(pid, NULL, 0);
	return good ? HELPER_DONE : HELPER_LATE;
}
