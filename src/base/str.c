/* SPDX-License-Identifier: MIT */
#include "str.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"

void str_init(struct str *s, struct arena *a)
{
	*s = (struct str){.arena = a};
	s->at = arena_reserve(a, NULL, &s->capacity, 63, 1);
}

static void room(struct str *s, size_t n)
{
	if (s->length + n >= s->capacity)
		s->at = arena_reserve(s->arena, s->at, &s->capacity, s->length + n, 1);
}

void str_bytes(struct str *s, const char *bytes, size_t n)
{
	room(s, n);
	if (n)
		memcpy(s->at + s->length, bytes, n);
	s->length += n;
	s->at[s->length] = 0;
}

void str_add(struct str *s, const char *text)
{
	str_bytes(s, text, strlen(text));
}

void str_char(struct str *s, char c)
{
	str_bytes(s, &c, 1);
}

void str_printf(struct str *s, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (n <= 0)
		return;
	room(s, (size_t)n);
	va_start(ap, format);
	vsnprintf(s->at + s->length, (size_t)n + 1, format, ap);
	va_end(ap);
	s->length += (size_t)n;
}

void str_number(struct str *s, unsigned long long n)
{
	char digits[24], *p = digits + sizeof digits;

	do
		*--p = (char)('0' + n % 10);
	while (n /= 10);
	str_bytes(s, p, (size_t)(digits + sizeof digits - p));
}

void str_clear(struct str *s)
{
	s->length = 0;
	s->at[0] = 0;
}
