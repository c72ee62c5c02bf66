/* SPDX-License-Identifier: MIT */
#include "place.h"

/* The number that ends before `end`; `*from` is set to its first digit, or to `end` if there is none. */
static uint64_t number_before(const char *start, const char *end, const char **from)
{
	uint64_t n = 0, scale = 1;

	for (*from = end; *from > start && (*from)[-1] >= '0' && (*from)[-1] <= '9' && scale < 1000000000;
		scale *= 10)
		n += (uint64_t)(*--*from - '0') * scale;
	return n;
}

/* "file:line" and "file:line:column"; a bare number is a line of no file, anything else a file of no line. */
struct place_parts place_parse(struct text t)
{
	const char *end = t.at + t.length, *digits, *earlier;
	uint64_t line = number_before(t.at, end, &digits), before;

	if (digits == end || (digits > t.at && digits[-1] != ':'))
		return (struct place_parts){t, 0, 0};
	if (digits == t.at)
		return (struct place_parts){{t.at, 0}, line, 0};
	before = number_before(t.at, digits - 1, &earlier);
	if (earlier < digits - 1 && earlier > t.at && earlier[-1] == ':')
		return (struct place_parts){{t.at, (size_t)(earlier - 1 - t.at)}, before, line};
	return (struct place_parts){{t.at, (size_t)(digits - 1 - t.at)}, line, 0};
}
