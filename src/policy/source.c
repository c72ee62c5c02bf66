/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/input.h"

static void line_starts(struct source *s, size_t at)
{
	s->line = arena_reserve(s->arena, s->line, &s->capacity, s->lines, sizeof *s->line);
	s->line[s->lines++] = at;
}

/* All of the file into the input's window. */
static bool fill(struct input *in, struct fault *fault)
{
	while ((size_t)(in->end - in->at) <= SOURCE_MOST && input_more(in, fault))
		;
	if ((size_t)(in->end - in->at) > SOURCE_MOST)
		fault_set(fault, STATUS_CONFIG, "%s: is longer than 16 MiB; is this the right file?", in->name);
	return !fault_is_set(fault);
}

static void take(struct source *s, const char *bytes, size_t n)
{
	s->length = n;
	s->at = arena_text(s->arena, bytes, n);
	line_starts(s, 0);
	for (size_t i = 0; i < n; i++)
		if (s->at[i] == '\n')
			line_starts(s, i + 1);
}

void source_take(struct source *s, struct arena *a, struct text text)
{
	*s = (struct source){.arena = a, .name = "text"};
	take(s, text.at, text.length);
}

bool source_read(struct source *s, struct arena *a, const char *path, struct fault *fault)
{
	struct input in;
	bool whole;

	*s = (struct source){.arena = a};
	if (!input_open(&in, path, fault))
		return false;
	s->name = in.name;
	whole = fill(&in, fault);
	if (whole)
		take(s, in.at, (size_t)(in.end - in.at));
	input_close(&in);
	return whole;
}

/* How many bytes at i are a backslash and the end of a line; the byte behind the text is a NUL. */
static size_t joint(const struct source *s, size_t i)
{
	if (s->at[i] != '\\')
		return 0;
	if (s->at[i + 1] == '\n')
		return 2;
	return s->at[i + 1] == '\r' && s->at[i + 2] == '\n' ? 3 : 0;
}

void source_join(struct source *s)
{
	size_t to = 0, bytes;

	s->lines = 1; /* the first starts where it did */
	for (size_t i = 0; i < s->length;) {
		bytes = joint(s, i);
		if (!bytes)
			s->at[to++] = s->at[i];
		if (bytes || s->at[i] == '\n')
			line_starts(s, to);
		i += bytes ? bytes : 1;
	}
	s->length = to;
	s->at[to] = 0;
}

/* The last line that starts at or before the byte, counted from 0. */
static size_t line_of(const struct source *s, size_t at)
{
	size_t low = 0, high = s->lines;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (s->line[middle] <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

uint64_t source_line(const struct source *s, size_t at)
{
	return line_of(s, at) + 1;
}

bool source_wrong(const struct source *s, size_t at, struct fault *fault, const char *format, ...)
{
	size_t line = line_of(s, at);
	char what[384];
	va_list ap;

	va_start(ap, format);
	vsnprintf(what, sizeof what, format, ap);
	va_end(ap);
	fault_set(fault, STATUS_CONFIG, "%s:%zu:%zu: %s", s->name, line + 1, at - s->line[line] + 1, what);
	return false;
}
