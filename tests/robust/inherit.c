/* SPDX-License-Identifier: MIT */
/* Prints whatever a process inherits that a tool around it might have changed, and copies its input. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static void print_signals(void)
{
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int i = 1; i < SIGRTMIN; i++) {
		struct sigaction a;

		if (sigaction(i, NULL, &a) == 0)
			printf("signal %d: %s%s\n", i, a.sa_handler == SIG_DFL ? "default" : a.sa_handler == SIG_IGN ? "ignored" : "caught",
				sigismember(&mask, i) ? ", blocked" : "");
	}
}

static void print_files(void)
{
	for (int fd = 0; fd < 256; fd++) {
		struct stat st;

		if (fstat(fd, &st) == 0)
			printf("fd %d: mode %o, flags %o\n", fd, (unsigned)st.st_mode, (unsigned)fcntl(fd, F_GETFL));
	}
}

static void print_limits(void)
{
	for (int i = 0; i < RLIMIT_NLIMITS; i++) {
		struct rlimit r;

		getrlimit((__rlimit_resource_t)i, &r);
		printf("limit %d: %llu %llu\n", i, (unsigned long long)r.rlim_cur, (unsigned long long)r.rlim_max);
	}
}

int main(int argc, char **argv)
{
	char line[4096], cwd[4096];
	size_t n;

	for (int i = 0; i < argc; i++)
		printf("argument %d: %s\n", i, argv[i]);
	for (char **e = environ; *e; e++)
		if (strncmp(*e, "FISSION_", 8) != 0)
			printf("%s\n", *e);
	print_signals();
	print_files();
	print_limits();
	printf("group %s, session %s, terminal %d, umask %o, nice %d, cwd %s\n", getpgrp() == getpid() ? "own" : "given",
		getsid(0) == getpid() ? "own" : "given", isatty(0), (unsigned)umask(0), getpriority(PRIO_PROCESS, 0),
		getcwd(cwd, sizeof cwd));
	while ((n = fread(line, 1, sizeof line, stdin)) > 0)
		fwrite(line, 1, n, stdout);
	fprintf(stderr, "on standard error\n");
	return 42;
}
