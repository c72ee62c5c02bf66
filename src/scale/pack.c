/* SPDX-License-Identifier: MIT */
#include "pack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/input.h"
#include "base/output.h"
#include "base/str.h"

static const char head[] = "fission-pack 1\n";

enum { LINE_MOST = 400 };

void pack_begin(struct str *to)
{
	str_add(to, head);
}

void pack_add(struct str *to, const char *kind, struct text name, struct text bytes)
{
	str_printf(to, "%s %.*s %zu %016" PRIx64 "\n", kind, (int)name.length, name.at, bytes.length,
		hash_bytes(bytes.at ? bytes.at : "", bytes.length));
	str_bytes(to, bytes.at ? bytes.at : "", bytes.length);
	str_char(to, '\n');
}

bool pack_slurp(struct text *to, struct arena *a, const char *path, struct fault *fault)
{
	struct stat s;
	size_t room, n = 0;
	struct input in;
	char *at;

	if (!input_open(&in, path, fault))
		return false;
	room = fstat(in.fd, &s) == 0 && s.st_size > 0 ? (size_t)s.st_size + 1 : 1;
	at = arena_alloc(a, room);
	do {
		size_t more = (size_t)(in.end - in.at);

		if (n + more >= room) {
			at = arena_grow(a, at, room, 2 * (n + more) + 1);
			room = 2 * (n + more) + 1;
		}
		memcpy(at + n, in.at, more);
		n += more;
		in.at = in.end;
	} while (input_more(&in, fault));
	input_close(&in);
	*to = (struct text){at, n};
	return !fault_is_set(fault);
}

bool pack_open(struct text *rest)
{
	size_t n = sizeof head - 1;

	if (rest->length < n || memcmp(rest->at, head, n) != 0)
		return false;
	*rest = (struct text){rest->at + n, rest->length - n};
	return true;
}

/* The word up to the blank or the end of the line, and moves behind it. */
static struct text word_of(const char **p, const char *end)
{
	const char *from = *p, *blank = memchr(from, ' ', (size_t)(end - from));

	*p = blank ? blank + 1 : end;
	return (struct text){from, (size_t)((blank ? blank : end) - from)};
}

bool pack_next(struct text *rest, struct pack_entry *e)
{
	size_t window = rest->length < LINE_MOST ? rest->length : LINE_MOST, n, line;
	const char *end = window ? memchr(rest->at, '\n', window) : NULL, *p = rest->at;
	struct text size, check;
	char digits[24];

	if (!end)
		return false;
	e->kind = word_of(&p, end);
	e->name = word_of(&p, end);
	size = word_of(&p, end);
	check = word_of(&p, end);
	if (!size.length || size.length > 18 || check.length != 16)
		return false;
	snprintf(digits, sizeof digits, "%.*s", (int)size.length, size.at);
	n = strtoull(digits, NULL, 10);
	line = (size_t)(end - rest->at) + 1;
	if (n >= rest->length - line || end[1 + n] != '\n')
		return false;
	e->bytes = (struct text){end + 1, n};
	snprintf(digits, sizeof digits, "%016" PRIx64, hash_bytes(e->bytes.at, n));
	if (memcmp(digits, check.at, 16) != 0)
		return false;
	*rest = (struct text){rest->at + line + n + 1, rest->length - line - n - 1};
	return true;
}

bool pack_publish(const char *path, struct text bytes, struct fault *fault)
{
	struct output to;

	if (output_open(&to, path)) {
		output_write(&to, bytes.at, bytes.length);
		if (output_commit(&to))
			return true;
	}
	fault_set(fault, to.fault.status, "%s", to.fault.text);
	return false;
}

static bool write_all(int fd, struct text bytes)
{
	while (bytes.length) {
		ssize_t n = write(fd, bytes.at, bytes.length);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0)
			bytes = (struct text){bytes.at + n, bytes.length - (size_t)n};
	}
	return true;
}

bool pack_leave(const char *path, struct text bytes, struct fault *fault)
{
	char temporary[4200];
	int fd;
	bool good;

	snprintf(temporary, sizeof temporary, "%s.%d", path, (int)getpid());
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	good = fd >= 0 && write_all(fd, bytes);
	if (fd >= 0)
		good = close(fd) == 0 && good;
	if (good && rename(temporary, path) == 0)
		return true;
	fault_set(fault, STATUS_UNFIT, "%s: %s", path, strerror(errno));
	unlink(temporary);
	return false;
}
