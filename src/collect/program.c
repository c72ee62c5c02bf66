/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/channel.h"

/*
 * Signals that the tool sets for itself, and what was to become of them before. Where SIGCHLD is ignored, nobody is
 * told how a child has ended.
 */
static const int changed[] = {SIGPIPE, SIGXFSZ, SIGCHLD};

enum { CHANGED = sizeof changed / sizeof *changed };

static struct sigaction original[CHANGED];

void program_prepare(void)
{
	for (size_t i = 0; i < CHANGED; i++)
		sigaction(changed[i], NULL, &original[i]);
	signal(SIGCHLD, SIG_DFL);
}

void program_hold_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY | O_CLOEXEC) != fd)
			return;
}

#define PERSONALITY_NOW 0xffffffffu /* asks, and changes nothing */

/* In the child: whatever fails is told through the pipe, which a successful exec closes. */
_Noreturn static void become(const struct program_setup *setup, int tell)
{
	int why;

	for (size_t i = 0; i < CHANGED; i++)
		sigaction(changed[i], &original[i], NULL);
	setenv(CHANNEL_VARIABLE, setup->channel, 1);
	for (size_t i = 0; setup->env && setup->env[i]; i++)
		putenv(setup->env[i]);
	if (setup->preload) {
		const char *old = getenv("LD_PRELOAD");
		char both[8192];

		snprintf(both, sizeof both, "%s%s%s", setup->preload, old ? ":" : "", old ? old : "");
		setenv("LD_PRELOAD", both, 1);
	}
	for (int i = 0; setup->streams && i < 3; i++)
		dup2(setup->streams[i], i);
	if (setup->steady) {
		personality((unsigned long)personality(PERSONALITY_NOW) | ADDR_NO_RANDOMIZE);
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody is left to let it go on */
	}
	sigprocmask(SIG_SETMASK, setup->mask, NULL);
	execvp(setup->path ? setup->path : setup->argv[0], setup->argv);
	why = errno;
	if (write(tell, &why, sizeof why) < 0)
		_exit(STATUS_TOOL);
	_exit(STATUS_TOOL);
}

bool program_is_here(const char *name)
{
	struct stat s;

	return stat(name, &s) == 0 && S_ISREG(s.st_mode) && access(name, X_OK) == 0;
}

/*
 * Why the program could not be started; a name without a slash is looked for in PATH, where some folders may be closed.
 */
static void tell_failure(struct fault *fault, const char *name, int why)
{
	bool sought = !strchr(name, '/') && (why == ENOENT || why == EACCES);

	if (!sought)
		fault_set(fault, STATUS_USAGE, "%s: %s", name, strerror(why));
	else if (program_is_here(name))
		fault_set(fault, STATUS_USAGE, "%s: not found in PATH; did you mean './%s'?", name, name);
	else
		fault_set(fault, STATUS_USAGE, "%s: not found in PATH", name);
}

bool program_start(struct program *p, const struct program_setup *setup, struct fault *fault)
{
	int pipe_ends[2], why = 0;

	*p = (struct program){0};
	if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
		fault_set(fault, STATUS_UNFIT, "cannot make a pipe: %s", strerror(errno));
		return false;
	}
	p->pid = fork();
	if (p->pid == 0)
		become(setup, pipe_ends[1]);
	close(pipe_ends[1]);
	if (p->pid < 0)
		fault_set(fault, STATUS_UNFIT, "cannot start a process: %s", strerror(errno));
	else if (read(pipe_ends[0], &why, sizeof why) == sizeof why)
		tell_failure(fault, setup->argv[0], why);
	close(pipe_ends[0]);
	if (why)
		waitpid(p->pid, NULL, 0);
	return p->pid > 0 && !why;
}

bool program_ended(struct program *p)
{
	if (!p->ended && waitpid(p->pid, &p->status, WNOHANG) == p->pid)
		p->ended = true;
	return p->ended;
}

int program_status(const struct program *p)
{
	return WIFSIGNALED(p->status) ? 128 + WTERMSIG(p->status) : WEXITSTATUS(p->status);
}

char program_thread(int pid, int tid)
{
	char path[64], line[512];
	ssize_t n;
	int fd;
	const char *after;

	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, line, sizeof line - 1);
	close(fd);
	line[n > 0 ? n : 0] = 0;
	/* "pid (name) state": the name may hold anything, brackets too. */
	after = strrchr(line, ')');
	return !after || !after[1] || after[2] == 'Z' || after[2] == 'X' ? 0 : after[2];
}
