/* SPDX-License-Identifier: MIT */
/*
 * exec and posix_spawn. Nothing is recorded of them: one that fails leaves everything as it was, and one that succeeds
 * shows itself by the new image, which attaches under a new process number; the collector then ends the old one's
 * threads. What is done here is to hand the channel on (environment.h).
 *
 * They may be called between vfork and exec, where memory is the parent's: everything lies on the stack.
 */
#include <alloca.h>
#include <spawn.h>
#include <stdarg.h>
#include <unistd.h>

#include "runtime/environment.h"
#include "runtime/real.h"

/* A copy if need be, in the caller's frame. */
#define WITH_CHANNEL(env) ({ \
	size_t room_ = environment_room(env); \
	room_ ? environment_with(alloca(room_ * sizeof(char *)), env) : (char **)(env); \
})

EXPORT int execve(const char *path, char *const argv[], char *const env[])
{
	return REAL(execve)(path, argv, WITH_CHANNEL(env));
}

EXPORT int execvpe(const char *file, char *const argv[], char *const env[])
{
	return REAL(execvpe)(file, argv, WITH_CHANNEL(env));
}

EXPORT int execv(const char *path, char *const argv[])
{
	return REAL(execve)(path, argv, WITH_CHANNEL(environ));
}

EXPORT int execvp(const char *file, char *const argv[])
{
	return REAL(execvpe)(file, argv, WITH_CHANNEL(environ));
}

EXPORT int fexecve(int fd, char *const argv[], char *const env[])
{
	return REAL(fexecve)(fd, argv, WITH_CHANNEL(env));
}

EXPORT int execveat(int dir, const char *path, char *const argv[], char *const env[], int flags)
{
	return REAL(execveat)(dir, path, argv, WITH_CHANNEL(env), flags);
}

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attr, char *const argv[], char *const env[])
{
	return REAL(posix_spawn)(pid, path, actions, attr, argv, WITH_CHANNEL(env));
}

EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attr, char *const argv[], char *const env[])
{
	return REAL(posix_spawnp)(pid, file, actions, attr, argv, WITH_CHANNEL(env));
}

/* The forms with their arguments in a row. */

static size_t count(va_list words)
{
	size_t n = 1;

	while (va_arg(words, char *))
		n++;
	return n;
}

static void collect(char **argv, const char *first, va_list words)
{
	*argv++ = (char *)first;
	while ((*argv++ = va_arg(words, char *)))
		;
}

/* The arguments as an array in the caller's frame; `words` stands behind them afterwards. */
#define ARGUMENTS(argv, first, words) \
	va_start(words, first); \
	argv = alloca((count(words) + 1) * sizeof(char *)); \
	va_end(words); \
	va_start(words, first); \
	collect(argv, first, words)

EXPORT int execl(const char *path, const char *first, ...)
{
	va_list words;
	char **argv;

	ARGUMENTS(argv, first, words);
	va_end(words);
	return REAL(execve)(path, argv, WITH_CHANNEL(environ));
}

EXPORT int execlp(const char *file, const char *first, ...)
{
	va_list words;
	char **argv;

	ARGUMENTS(argv, first, words);
	va_end(words);
	return REAL(execvpe)(file, argv, WITH_CHANNEL(environ));
}

EXPORT int execle(const char *path, const char *first, ...)
{
	va_list words;
	char **argv, *const *env;

	ARGUMENTS(argv, first, words);
	env = va_arg(words, char *const *);
	va_end(words);
	return REAL(execve)(path, argv, WITH_CHANNEL(env));
}
