/* SPDX-License-Identifier: MIT */
#include "pattern.h"

#include <string.h>

#include "base/str.h"

static bool is_wildcard(char c)
{
	return c == '*' || c == '?';
}

/* How many bytes of the pattern at i this byte of the name takes; 0 if they differ. Not for '*'. */
static size_t taken(struct text pattern, size_t i, char c)
{
	if (i == pattern.length)
		return 0;
	if (pattern.at[i] == '?')
		return 1;
	if (pattern.at[i] == '\\' && i + 1 < pattern.length && is_wildcard(pattern.at[i + 1]))
		return pattern.at[i + 1] == c ? 2 : 0;
	return pattern.at[i] == c;
}

/*
 * Only the latest star has to be tried again: whatever an earlier one took, the shortest name part that brings us to
 * the later star leaves the most for the rest.
 */
bool pattern_matches(struct text pattern, struct text name)
{
	size_t i = 0, j = 0, width, behind_star = 0, star_took = 0;

	while (j < name.length) {
		if (i < pattern.length && pattern.at[i] == '*') {
			behind_star = ++i;
			star_took = j;
		} else if ((width = taken(pattern, i, name.at[j])) > 0) {
			i += width;
			j++;
		} else if (behind_star) {
			i = behind_star;
			j = ++star_took;
		} else {
			return false;
		}
	}
	while (i < pattern.length && pattern.at[i] == '*')
		i++;
	return i == pattern.length;
}

static struct text from(struct text t, size_t i)
{
	return (struct text){t.at + i, t.length - i};
}

/* Without "./" and "../" in front, which say from where the compiler or the user looked. */
static struct text plain_path(struct text t)
{
	for (;;) {
		if (t.length > 2 && memcmp(t.at, "./", 2) == 0)
			t = from(t, 2);
		else if (t.length > 3 && memcmp(t.at, "../", 3) == 0)
			t = from(t, 3);
		else
			return t;
	}
}

/* Byte by byte: a pattern such as "/usr/" and a star must not be cut down to the star. */
static bool is_last_part(struct text whole, struct text part)
{
	return part.length > 0 && part.length < whole.length &&
	       whole.at[whole.length - part.length - 1] == '/' &&
	       memcmp(whole.at + whole.length - part.length, part.at, part.length) == 0;
}

bool pattern_matches_file(struct text pattern, struct text file)
{
	struct text rest;
	const char *slash;

	pattern = plain_path(pattern);
	file = plain_path(file);
	if (pattern_matches(pattern, file) || is_last_part(pattern, file))
		return true;
	for (rest = file; rest.length && (slash = memchr(rest.at, '/', rest.length));) {
		rest = from(rest, (size_t)(slash - rest.at) + 1);
		if (pattern_matches(pattern, rest))
			return true;
	}
	return false;
}

bool pattern_matches_variable(struct text pattern, struct text name)
{
	if (pattern_matches(pattern, name))
		return true;
	for (size_t i = name.length; i-- > 1;) {
		if (name.at[i] == '>' && name.at[i - 1] == '-')
			return false;
		if (memchr("[.+", name.at[i], 3) && pattern_matches(pattern, (struct text){name.at, i}))
			return true;
	}
	return false;
}

struct text pattern_literal(struct arena *a, struct text name)
{
	struct str s;

	str_init(&s, a);
	for (size_t i = 0; i < name.length; i++) {
		if (is_wildcard(name.at[i]))
			str_char(&s, '\\');
		str_char(&s, name.at[i]);
	}
	return (struct text){s.at, s.length};
}
