/* SPDX-License-Identifier: MIT */
#include "workshop.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct workshop *open_one; /* what a signal has to clean up */

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *where)
{
	(void)s, (void)type, (void)where;
	return remove(path);
}

void workshop_close(struct workshop *w)
{
	open_one = NULL;
	if (w->path[0])
		nftw(w->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	w->path[0] = 0;
}

/* Nothing is held at these places that removing files could disturb: the tool waits for a child. */
static void clean_up(int signal)
{
	if (open_one)
		workshop_close(open_one);
	_exit(128 + signal);
}

bool workshop_open(struct workshop *w)
{
	const char *root = getenv("TMPDIR");
	int n = snprintf(w->path, sizeof w->path, "%s/fission-XXXXXX", root && *root ? root : "/tmp");

	if (n >= (int)sizeof w->path || !mkdtemp(w->path) || !realpath("/proc/self/exe", w->self)) {
		w->path[0] = 0;
		return false;
	}
	open_one = w;
	signal(SIGINT, clean_up);
	signal(SIGTERM, clean_up);
	signal(SIGHUP, clean_up);
	return true;
}

const char *workshop_path(const struct workshop *w, const char *name)
{
	static char path[PATH_MAX + 64];

	snprintf(path, sizeof path, "%s/%s", w->path, name);
	return path;
}

bool workshop_put(const struct workshop *w, const char *name, const char *text)
{
	FILE *f = fopen(workshop_path(w, name), "w");
	bool good = f && fputs(text, f) >= 0;

	return f && fclose(f) == 0 && good;
}

_Noreturn static void become(const struct workshop *w, const char *const *words, const char *log)
{
	const char *argv[16] = {"fission"};
	size_t n = 1;
	int fd;

	while (*words && n < 15)
		argv[n++] = *words++;
	if (chdir(w->path) != 0)
		_exit(127);
	if (log) {
		fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
		if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
			_exit(127);
	}
	signal(SIGPIPE, SIG_DFL);
	execv(w->self, (char **)argv);
	_exit(127);
}

int workshop_run(const struct workshop *w, const char *const *words, const char *log)
{
	return workshop_run_with(w, words, log, "");
}

int workshop_run_with(const struct workshop *w, const char *const *words, const char *log, const char *settings)
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child < 0)
		return 127;
	if (child == 0 && setenv("FISSION_OPTIONS", settings, 1) == 0)
		become(w, words, log);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 127;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool workshop_line(const struct workshop *w, const char *name, const char *start, char *to, size_t size)
{
	FILE *f = fopen(workshop_path(w, name), "r");
	bool found = false;

	while (f && !found && fgets(to, (int)size, f))
		found = strncmp(to, start, strlen(start)) == 0;
	if (f)
		fclose(f);
	if (found)
		to[strcspn(to, "\n")] = 0;
	return found;
}

/* Whether a shell that is told "fission" runs this one. */
static bool is_in_path(const struct workshop *w)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX], real[PATH_MAX];

	for (; path && *path; path += strcspn(path, ":"), path += *path == ':') {
		int n = snprintf(file, sizeof file, "%.*s/fission", (int)strcspn(path, ":"), path);

		if (n < (int)sizeof file && access(file, X_OK) == 0)
			return realpath(file, real) && strcmp(real, w->self) == 0;
	}
	return false;
}

const char *workshop_prefix(const struct workshop *w)
{
	static char prefix[PATH_MAX];

	if (is_in_path(w))
		return "";
	memcpy(prefix, w->self, sizeof prefix);
	strrchr(prefix, '/')[1] = 0;
	return prefix;
}
