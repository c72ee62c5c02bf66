/* SPDX-License-Identifier: MIT */
#include "utf8.h"

struct range {
	uint32_t from, to;
};

static const struct range combining[] = {
	{0x300, 0x36f}, {0x483, 0x489}, {0x591, 0x5bd}, {0x610, 0x61a}, {0x64b, 0x65f}, {0x1ab0, 0x1aff},
	{0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
};

static const struct range wide[] = {
	{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f},
	{0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd},
};

static const struct range controls[] = {
	{0, 0x1f}, {0x7f, 0x9f}, {0xad, 0xad}, {0x61c, 0x61c}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
	{0xfeff, 0xfeff},
	{0xfff9, 0xfffb}, {0xe0000, 0xe007f},
};

#define AMONG(ranges, c) among(ranges, sizeof ranges / sizeof *ranges, c)

static bool among(const struct range *r, size_t count, uint32_t c)
{
	for (size_t i = 0; i < count && r[i].from <= c; i++)
		if (c <= r[i].to)
			return true;
	return false;
}

size_t utf8_sequence(const char *at, size_t n)
{
	const uint8_t *p = (const uint8_t *)at;
	size_t length = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;

	if (length > n)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) || (*p == 0xf0 && p[1] < 0x90) ||
		(*p == 0xf4 && p[1] > 0x8f))
		return 0;
	return length;
}

uint32_t utf8_character(const char *at, size_t length)
{
	const uint8_t *p = (const uint8_t *)at;
	uint32_t c = length == 1 ? *p : *p & (0xffu >> (length + 1));

	for (size_t i = 1; i < length; i++)
		c = c << 6 | (p[i] & 0x3f);
	return c;
}

unsigned utf8_columns(uint32_t c)
{
	if (c < 0x300)
		return 1;
	return AMONG(combining, c) ? 0 : AMONG(wide, c) ? 2 : 1;
}

bool utf8_controls(uint32_t c)
{
	return AMONG(controls, c);
}
