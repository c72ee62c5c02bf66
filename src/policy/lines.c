/* SPDX-License-Identifier: MIT */
#include "lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/opts.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_control(char c)
{
	return (unsigned char)c < 32 || c == 127;
}

/* The mark of UTF-8 is no part of the first word. */
static void start(struct lines *l)
{
	if (l->source.length >= 3 && memcmp(l->source.at, "\xef\xbb\xbf", 3) == 0)
		l->source.line[0] = 3;
}

bool lines_open(struct lines *l, struct arena *a, const char *path, struct fault *fault)
{
	*l = (struct lines){.fault = fault};
	if (!source_read(&l->source, a, path, fault))
		return false;
	start(l);
	return true;
}

void lines_take(struct lines *l, struct arena *a, struct text text, struct fault *fault)
{
	*l = (struct lines){.fault = fault};
	source_take(&l->source, a, text);
	start(l);
}

/* Control bytes would spoil messages, and no name has any: this is not the file that was meant. */
static bool bytes_are_plain(struct lines *l)
{
	for (size_t i = l->at; i < l->end; i++)
		if (is_control(l->source.at[i]) && !is_blank(l->source.at[i]))
			return source_wrong(&l->source, i, l->fault, "byte 0x%02x in a line of text; remove it",
				(unsigned char)l->source.at[i]);
	return true;
}

bool lines_next(struct lines *l)
{
	const struct source *s = &l->source;

	if (l->next == s->lines)
		return false;
	l->at = s->line[l->next++];
	l->end = l->next < s->lines ? s->line[l->next] - 1 : s->length;
	return bytes_are_plain(l);
}

struct text lines_word(struct lines *l)
{
	const char *text = l->source.at;
	size_t first;

	while (l->at < l->end && is_blank(text[l->at]))
		l->at++;
	if (l->at < l->end && text[l->at] == '#')
		l->end = l->at;
	first = l->at;
	while (l->at < l->end && !is_blank(text[l->at]))
		l->at++;
	return (struct text){text + first, l->at - first};
}

size_t lines_place(const struct lines *l, struct text word)
{
	return (size_t)(word.at - l->source.at);
}

const char *lines_copy(const struct lines *l, struct text word)
{
	return arena_text(l->source.arena, word.at, word.length);
}

bool lines_wrong(const struct lines *l, struct text word, const char *format, ...)
{
	char what[384];
	va_list ap;

	va_start(ap, format);
	vsnprintf(what, sizeof what, format, ap);
	va_end(ap);
	return source_wrong(&l->source, lines_place(l, word), l->fault, "%s", what);
}

bool lines_unknown(const struct lines *l, struct text word, const struct lines_choice *c)
{
	const char *have = lines_copy(l, word), *near = opts_nearest(have, c->names, c->count);

	if (near)
		return lines_wrong(l, word, "unknown %s '%.60s'; did you mean '%s'?", c->what, have, near);
	return lines_wrong(l, word, "unknown %s '%.60s'; there are %s", c->what, have, c->list);
}

bool lines_lock_pair(const struct lines *l, struct text word, struct text pair[2])
{
	const char *comma = memchr(word.at, ',', word.length);
	size_t n = comma ? (size_t)(comma - word.at) : 0;

	if (n == 0 || n + 1 == word.length)
		return lines_wrong(l, word,
			"'%.60s' does not name two functions; write LOCK,UNLOCK, such as my_lock,my_unlock", lines_copy(l, word));
	pair[0] = (struct text){word.at, n};
	pair[1] = (struct text){word.at + n + 1, word.length - n - 1};
	return true;
}
