/* SPDX-License-Identifier: MIT */
#include "record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "report/story.h"

enum { NAME_MOST = 64, DIGITS_MOST = 20 };

void record_put(struct str *to, const char *name, struct text value)
{
	str_printf(to, "%s %zu\n", name, value.length);
	str_bytes(to, value.at ? value.at : "", value.length);
	str_char(to, '\n');
}

void record_put_word(struct str *to, const char *name, const char *word)
{
	record_put(to, name, (struct text){word, strlen(word)});
}

void record_put_number(struct str *to, const char *name, uint64_t n)
{
	char digits[DIGITS_MOST + 1];
	int length = snprintf(digits, sizeof digits, "%" PRIu64, n);

	record_put(to, name, (struct text){digits, (size_t)length});
}

/* The number at p, up to its end; SIZE_MAX if there is none. */
static size_t parse_size(const char *p, const char *end)
{
	size_t n = 0;

	if (p == end || end - p > DIGITS_MOST - 2)
		return SIZE_MAX;
	for (; p < end; p++) {
		if (*p < '0' || *p > '9')
			return SIZE_MAX;
		n = n * 10 + (size_t)(*p - '0');
	}
	return n;
}

bool record_next(struct text *rest, struct record_field *f)
{
	size_t window = rest->length < NAME_MOST + DIGITS_MOST ? rest->length : NAME_MOST + DIGITS_MOST;
	const char *line = window ? memchr(rest->at, '\n', window) : NULL;
	const char *blank = line ? memchr(rest->at, ' ', (size_t)(line - rest->at)) : NULL;
	size_t n = blank ? parse_size(blank + 1, line) : SIZE_MAX, head = line ? (size_t)(line - rest->at) + 1 : 0;

	if (n == SIZE_MAX || n >= rest->length - head || line[1 + n] != '\n')
		return false;
	f->name = (struct text){rest->at, (size_t)(blank - rest->at)};
	f->value = (struct text){line + 1, n};
	*rest = (struct text){rest->at + head + n + 1, rest->length - head - n - 1};
	return true;
}

struct text record_get(struct text record, const char *name)
{
	struct record_field f;

	while (record_next(&record, &f))
		if (text_is(f.name, name))
			return f.value;
	return (struct text){NULL, 0};
}

uint64_t record_number(struct text record, const char *name)
{
	struct text t = record_get(record, name);
	size_t n = t.at ? parse_size(t.at, t.at + t.length) : SIZE_MAX;

	return n == SIZE_MAX ? 0 : n;
}

bool record_is(struct text record, const char *name, const char *value)
{
	struct record_field f;
	bool first = true;

	while (record_next(&record, &f)) {
		if (first && (!text_is(f.name, name) || !text_is(f.value, value)))
			return false;
		first = false;
	}
	return !first && !record.length;
}

char *record_word(struct arena *a, struct text t)
{
	return arena_text(a, t.at ? t.at : "", t.length);
}
