/* SPDX-License-Identifier: MIT */
/*
 * The scanf family. libc reads; in a walk the format is then followed once more over the text that was read, to find
 * which part of it became what. Numbers are inputs of their own, texts keep their bytes, floating point is given up.
 */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "runtime/inputs.h"
#include "runtime/models.h"
#include "runtime/real.h"

enum { READ_MOST = 4096 };

/* A conversion of the format. */
struct conversion {
	bool dropped;  /* "*" */
	bool given;    /* "m": the text is allocated */
	size_t most;
	unsigned size; /* of a number, in bytes */
	char what;
};

struct scanning {
	const char *text, *format;
	int left; /* conversions that were done */
};

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void skip_spaces(struct scanning *s)
{
	while (is_space(*s->text))
		s->text++;
}

static unsigned size_of(const char **format)
{
	unsigned size = sizeof(int);

	for (;; ++*format)
		switch (**format) {
		case 'h': size = size == sizeof(short) ? 1 : sizeof(short); break;
		case 'l': case 'q': case 'j': case 'z': case 't': case 'L': size = sizeof(long); break;
		default: return size;
		}
}

/* Behind the %. */
static struct conversion next_conversion(struct scanning *s)
{
	struct conversion c = {.most = SIZE_MAX};

	if (*s->format == '*') {
		c.dropped = true;
		s->format++;
	}
	if (is_digit(*s->format))
		for (c.most = 0; is_digit(*s->format); s->format++)
			c.most = c.most * 10 + (size_t)(*s->format - '0');
	if (*s->format == 'm') {
		c.given = true;
		s->format++;
	}
	c.size = size_of(&s->format);
	c.what = *s->format;
	s->format += *s->format != 0;
	if (c.what == '[') {
		s->format += *s->format == '^';
		s->format += *s->format == ']';
		while (*s->format && *s->format != ']')
			s->format++;
		s->format += *s->format != 0;
	}
	return c;
}

static uint64_t value_at(const void *at, unsigned size)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)((const uint8_t *)at)[i] << 8 * i;
	return value;
}

static size_t digits(const char *s, bool hex, size_t most)
{
	size_t n = *s == '-' || *s == '+';

	if (hex && s[n] == '0' && (s[n + 1] | 32) == 'x')
		n += 2;
	while (n < most && (is_digit(s[n]) || (hex && (s[n] | 32) >= 'a' && (s[n] | 32) <= 'f')))
		n++;
	return n;
}

static void take_number(struct scanning *s, const struct conversion *c, void *to)
{
	bool hex = c->what == 'x' || c->what == 'X' || c->what == 'p';
	int base = hex ? 16 : c->what == 'o' ? 8 : c->what == 'i' ? 0 : 10;

	skip_spaces(s);
	if (to)
		symbolic_set(to, c->size, model_number(&(struct model_number){s->text, 8 * c->size, value_at(to, c->size), base}));
	s->text += digits(s->text, hex || c->what == 'i', c->most);
}

static size_t length_of(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

/* A word, characters, or those of a set: as long as what was stored, if it was; of a file less may be there. */
static void take_text(struct scanning *s, const struct conversion *c, char *to)
{
	size_t n = 0, there = 0;

	if (c->what == 's')
		skip_spaces(s);
	if (c->what == 'c')
		n = c->most == SIZE_MAX ? 1 : c->most;
	else if (to)
		n = length_of(to);
	else
		while (n < c->most && s->text[n] && !is_space(s->text[n]))
			n++;
	while (there < n && s->text[there])
		there++;
	if (to) {
		symbolic_copy(to, s->text, there);
		symbolic_clear(to + there, n - there + (c->what != 'c'));
	}
	s->text += there;
}

static void take_float(struct scanning *s, const struct conversion *c)
{
	size_t n = 0;

	skip_spaces(s);
	while (n < c->most && (is_digit(s->text[n]) || s->text[n] == '.' || s->text[n] == '-' || s->text[n] == '+' ||
		(s->text[n] | 32) == 'e'))
		n++;
	for (size_t i = 0; i < n; i++)
		symbolic_lost(0, symbolic_load(s->text + i, 1, (uint8_t)s->text[i]), WALK_LOST_FLOAT);
	s->text += n;
}

static void take(struct scanning *s, const struct conversion *c, va_list words)
{
	void *to = c->dropped || c->what == '%' ? NULL : va_arg(words, void *);

	if (c->given && to)
		to = *(void **)to;
	switch (c->what) {
	case 'n': return;
	case 'd': case 'i': case 'u': case 'x': case 'X': case 'o': case 'p': take_number(s, c, to); break;
	case 's': case 'c': case '[': take_text(s, c, to); break;
	case '%': skip_spaces(s); s->text += *s->text == '%'; break;
	default: take_float(s, c);
	}
	s->left -= to != NULL;
}

static void scanned(struct scanning s, va_list words)
{
	while (*s.format && s.left > 0) {
		char f = *s.format++;

		if (f == '%') {
			struct conversion c = next_conversion(&s);

			take(&s, &c, words);
		} else if (is_space(f)) {
			skip_spaces(&s);
		} else if (*s.text == f) {
			s.text++;
		}
	}
}

/* Of a file: what was read from where it stood. One thread runs at a time. */
static void scanned_file(FILE *f, int64_t at, struct scanning s, va_list words)
{
	static char text[READ_MOST + 1];
	int64_t n = at < 0 ? 0 : REAL(pread)(fileno(f), text, READ_MOST, at);

	if (n <= 0)
		return;
	text[n] = 0;
	inputs_have_read(fileno(f), at, text, n);
	s.text = text;
	scanned(s, words);
	symbolic_clear(text, sizeof text);
}

static int64_t position(FILE *f)
{
	return walk_on && inputs_position(fileno(f)) >= 0 ? ftello(f) : -1;
}

static int scan_text(const char *s, const char *format, va_list words, int (*real)(const char *, const char *, va_list))
{
	va_list again;
	int n;

	va_copy(again, words);
	n = real(s, format, words);
	if (walk_on)
		scanned((struct scanning){s, format, n}, again);
	va_end(again);
	return n;
}

static int scan_file(FILE *f, const char *format, va_list words, int (*real)(FILE *, const char *, va_list))
{
	int64_t at = position(f);
	va_list again;
	int n;

	va_copy(again, words);
	n = real(f, format, words);
	if (walk_on)
		scanned_file(f, at, (struct scanning){NULL, format, n}, again);
	va_end(again);
	return n;
}

int __isoc99_vsscanf(const char *s, const char *format, va_list words);
int __isoc99_vfscanf(FILE *f, const char *format, va_list words);
EXPORT int __isoc99_sscanf(const char *s, const char *format, ...);
EXPORT int __isoc99_fscanf(FILE *f, const char *format, ...);
EXPORT int __isoc99_scanf(const char *format, ...);

/* A line a function: its name, its first parameters, how it is called. */
#define SCAN(name, parameters, call) \
	EXPORT int name parameters \
	{ \
		va_list words; \
		int n; \
		va_start(words, format); \
		n = call; \
		va_end(words); \
		if (walk_on) \
			model_nothing((const void *)name); \
		return n; \
	}

SCAN(__isoc99_sscanf, (const char *s, const char *format, ...), scan_text(s, format, words, __isoc99_vsscanf))
SCAN(__isoc99_fscanf, (FILE *f, const char *format, ...), scan_file(f, format, words, __isoc99_vfscanf))
SCAN(__isoc99_scanf, (const char *format, ...), scan_file(stdin, format, words, __isoc99_vfscanf))
