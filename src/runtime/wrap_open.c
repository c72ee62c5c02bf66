/* SPDX-License-Identifier: MIT */
/*
 * Files that are opened by name: another one is opened in their place if the tool has given one (inputs.h), and in a
 * walk it is remembered which name a file has. Nothing is told. Who wants to write gets the file itself.
 */
/* Both names of each function, not one under two names. */
#undef _FILE_OFFSET_BITS

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>

#include "runtime/inputs.h"
#include "runtime/real.h"

static bool is_reading(int flags)
{
	return (flags & O_ACCMODE) == O_RDONLY && !(flags & (O_CREAT | O_DIRECTORY | O_PATH));
}

static int opened(int fd, const char *path, int flags)
{
	if (is_reading(flags))
		inputs_opened(fd, path);
	return fd;
}

#define OPEN(name) \
	EXPORT int name(const char *path, int flags, ...) \
	{ \
		va_list words; \
		unsigned mode; \
		va_start(words, flags); \
		mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(words, unsigned) : 0; \
		va_end(words); \
		return opened(REAL(name)(is_reading(flags) ? inputs_path(path) : path, flags, mode), path, flags); \
	}

#define OPEN_AT(name) \
	EXPORT int name(int dir, const char *path, int flags, ...) \
	{ \
		va_list words; \
		unsigned mode; \
		va_start(words, flags); \
		mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(words, unsigned) : 0; \
		va_end(words); \
		return opened(REAL(name)(dir, is_reading(flags) ? inputs_path(path) : path, flags, mode), path, flags); \
	}

#define OPEN_STREAM(name) \
	EXPORT FILE *name(const char *restrict path, const char *restrict mode) \
	{ \
		bool reads = mode && mode[0] == 'r' && mode[1] != '+' && !(mode[1] && mode[2] == '+'); \
		FILE *f = REAL(name)(reads ? inputs_path(path) : path, mode); \
		if (f && reads) \
			inputs_opened(fileno(f), path); \
		return f; \
	}

OPEN(open)
OPEN(open64)
OPEN_AT(openat)
OPEN_AT(openat64)
OPEN_STREAM(fopen)
OPEN_STREAM(fopen64)
