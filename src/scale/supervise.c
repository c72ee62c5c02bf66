/* SPDX-License-Identifier: MIT */
#include "supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"

enum { SIGNALLED = 128 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void supervise_with_parent(void)
{
	pid_t parent = getppid();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it ended in between */
		_exit(STATUS_UNFIT);
}

_Noreturn static void become(const struct supervised *s, const int streams[2], pid_t parent)
{
	int nothing = open("/dev/null", O_RDONLY);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(STATUS_UNFIT);
	dup2(nothing, 0);
	dup2(streams[0], 1);
	dup2(streams[1], 2);
	exit(s->run(s->self));
}

static struct text take(int fd, struct arena *a)
{
	struct stat s;
	char *at;
	ssize_t n;

	if (fstat(fd, &s) != 0 || s.st_size <= 0)
		return (struct text){"", 0};
	at = arena_alloc(a, (size_t)s.st_size + 1);
	n = pread(fd, at, (size_t)s.st_size, 0);
	return (struct text){at, n > 0 ? (size_t)n : 0};
}

/* Waits until it ends, or its time is over. */
static void await(struct supervised *s, pid_t pid)
{
	struct pollfd end = {.fd = pidfd_open(pid, 0), .events = POLLIN};
	double start = now(), left = s->limit;
	int status = 0, got;

	do {
		got = poll(&end, end.fd >= 0, s->limit ? (int)(left * 1000) + 1 : -1);
		left = s->limit - (now() - start);
	} while (got <= 0 && (!s->limit || left > 0) && end.fd >= 0);
	s->timed_out = got <= 0 && end.fd >= 0;
	if (end.fd >= 0)
		close(end.fd);
	if (s->timed_out)
		kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	kill(-pid, SIGKILL);
	s->seconds = now() - start;
	s->status = WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

bool supervise(struct supervised *s, struct arena *a, struct fault *fault)
{
	int streams[2] = {memfd_create("fission-output", MFD_CLOEXEC),
		memfd_create("fission-errors", MFD_CLOEXEC)};
	pid_t parent = getpid(), pid;

	fflush(NULL);
	pid = streams[0] >= 0 && streams[1] >= 0 ? fork() : -1;
	if (pid == 0)
		become(s, streams, parent);
	if (pid < 0) {
		fault_set(fault, STATUS_UNFIT, "cannot start a process: %s", strerror(errno));
	} else {
		setpgid(pid, pid); /* whoever of both comes first */
		await(s, pid);
		s->output = take(streams[0], a);
		s->errors = take(streams[1], a);
	}
	for (int i = 0; i < 2; i++)
		if (streams[i] >= 0)
			close(streams[i]);
	return pid > 0;
}
