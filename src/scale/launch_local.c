/* SPDX-License-Identifier: MIT */
/*
 * Workers of our own, on this machine: one process a batch, which reads units from the depot and writes results to it.
 *
 * Each is in a group of its own and ends when we do (supervise.h), so nothing is left behind, however we end.
 */
#include "launch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"

_Noreturn static void become(const struct launch *l, char **argv, int errors, pid_t parent)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(STATUS_UNFIT);
	dup2(errors, 2);
	unsetenv("FISSION_OPTIONS");
	execv(l->setup.self ? l->setup.self : "/proc/self/exe", argv);
	_exit(STATUS_TOOL);
}

static char **words_of(struct launch *l, const struct launch_batch *b)
{
	char **argv = arena_alloc(&l->arena, (b->count + 6) * sizeof *argv), path[DEPOT_PATH];
	size_t n = 0;

	argv[n++] = "fission";
	argv[n++] = "work";
	argv[n++] = "-o";
	argv[n++] = (char *)l->setup.depot->path;
	argv[n++] = "--";
	for (size_t i = 0; i < b->count; i++) {
		depot_path(l->setup.depot, "units", l->task[b->task[i]].id.hex, path);
		argv[n++] = arena_text(&l->arena, path, strlen(path));
	}
	return argv;
}

static bool start(struct launch *l, struct launch_batch *b, struct fault *fault)
{
	char **argv = words_of(l, b);
	pid_t parent = getpid();

	b->errors = memfd_create("fission-errors", MFD_CLOEXEC);
	fflush(NULL);
	b->pid = fork();
	if (b->pid == 0)
		become(l, argv, b->errors, parent);
	if (b->pid < 0) {
		fault_set(fault, STATUS_UNFIT, "cannot start a worker: %s", strerror(errno));
		return false;
	}
	setpgid(b->pid, b->pid);
	return true;
}

/* The last line that it has written. */
static void note_errors(struct launch_batch *b, int status)
{
	char *line;
	ssize_t n = b->errors >= 0 ? pread(b->errors, b->why, sizeof b->why - 1, 0) : 0;

	b->why[n > 0 ? n : 0] = 0;
	while (n > 0 && b->why[n - 1] == '\n')
		b->why[--n] = 0;
	line = strrchr(b->why, '\n');
	if (line)
		memmove(b->why, line + 1, strlen(line));
	if (!*b->why && WIFSIGNALED(status))
		snprintf(b->why, sizeof b->why, "its worker was ended by signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
}

/* As `fission work` names them. */
static void add_sides(const struct launch *l, struct launch_batch *b)
{
	char host[256] = "", name[ADDRESS + 300], path[DEPOT_PATH];

	gethostname(host, sizeof host - 1);
	for (size_t i = 0; i < b->count; i++) {
		snprintf(name, sizeof name, "%s.%s.%d", l->task[b->task[i]].id.hex, host, (int)b->pid);
		depot_path(l->setup.depot, "sides", name, path);
		b->worked += launch_side(path);
	}
}

static bool ended(struct launch *l, struct launch_batch *b)
{
	int status;

	if (waitpid(b->pid, &status, WNOHANG) != b->pid)
		return false;
	note_errors(b, status);
	add_sides(l, b);
	b->pid = 0;
	return true;
}

static void stop(struct launch *l, struct launch_batch *b)
{
	(void)l;
	if (!b->pid)
		return;
	kill(-b->pid, SIGKILL);
	waitpid(b->pid, NULL, 0);
	b->pid = 0;
}

const struct launcher launch_local = {"local", "processes of this machine", 0.2, NULL, start, ended, stop, NULL};
