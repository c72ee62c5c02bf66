/* SPDX-License-Identifier: MIT */
#include "source_path.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"

/* Drops the last part of a folded path; false if there is none to drop, as in "", "/" and "../..". */
static bool drop_part(struct str *s)
{
	size_t n = s->length;

	while (n > 0 && s->at[n - 1] != '/')
		n--;
	if (n == s->length || strcmp(s->at + n, "..") == 0)
		return false;
	s->length = n > 1 ? n - 1 : n; /* the slash goes too, unless it is the root */
	s->at[s->length] = 0;
	return true;
}

static void add_part(struct str *s, const char *part, size_t n)
{
	bool rooted = s->length > 0 && s->at[0] == '/';

	if (n == 0 || (n == 1 && part[0] == '.'))
		return;
	if (n == 2 && memcmp(part, "..", 2) == 0 && (drop_part(s) || rooted))
		return;
	if (s->length > 0 && s->at[s->length - 1] != '/')
		str_char(s, '/');
	str_bytes(s, part, n);
}

/* Appends the path part by part; an absolute one starts anew. */
static void fold(struct str *s, const char *path)
{
	if (path[0] == '/') {
		str_clear(s);
		str_char(s, '/');
	}
	for (const char *p = path; *p; p += strspn(p, "/")) {
		size_t n = strcspn(p, "/");

		add_part(s, p, n);
		p += n;
	}
}

/* How many bytes of the path, up to and with a slash, lead to a directory that the other lies in too. */
static size_t common(const struct str *path, const struct str *directory)
{
	size_t shared = 0;

	for (size_t i = 0; i < path->length; i++) {
		char other = i < directory->length ? directory->at[i] : i == directory->length ? '/' : 0;

		if (path->at[i] != other)
			break;
		if (other == '/')
			shared = i + 1;
	}
	return shared;
}

static bool is_system_header(const struct str *path)
{
	return strncmp(path->at, "/usr/include/", 13) == 0 || strncmp(path->at, "/usr/lib", 8) == 0;
}

struct text source_path(struct arena *a, const char *directory, const char *file)
{
	struct str from, path;
	size_t skip;

	str_init(&from, a);
	str_init(&path, a);
	fold(&from, directory ? directory : "");
	str_bytes(&path, from.at, from.length);
	fold(&path, file);
	skip = common(&path, &from);
	if (skip <= 1 || (is_system_header(&path) && skip <= from.length))
		skip = 0;
	while (strncmp(path.at + skip, "../", 3) == 0)
		skip += 3;
	return (struct text){path.at + skip, path.length - skip};
}
