/* SPDX-License-Identifier: MIT */
#include "text_names.h"

#include "base/str.h"

const uint8_t text_name_class[256] = {
	[0 ... 31] = BYTE_ENDS, [127] = BYTE_ENDS,
	[' '] = BYTE_ENDS, ['|'] = BYTE_ENDS, ['('] = BYTE_ENDS, [')'] = BYTE_ENDS, ['='] = BYTE_ENDS,
	[','] = BYTE_COMMA,
	['%'] = BYTE_PERCENT,
};

const uint8_t text_place_class[256] = {
	[0 ... 8] = BYTE_ENDS, [10 ... 31] = BYTE_ENDS, [127] = BYTE_ENDS,
	['|'] = BYTE_ENDS,
	['%'] = BYTE_PERCENT,
};

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* The byte that "%XX" at `text` stands for, or -1 if these three bytes are themselves. */
static int escaped(const char *text, size_t n)
{
	int byte;

	if (n < 3 || digit(text[1]) < 0 || digit(text[2]) < 0)
		return -1;
	byte = digit(text[1]) * 16 + digit(text[2]);
	if ((byte < 32 && byte != '\t') || byte == 127)
		return -1; /* no name may hold it */
	if (byte == '-' || byte == '#' || byte == 'x' || text_name_class[byte] != BYTE_PLAIN)
		return byte;
	return -1;
}

size_t text_unescape(char *text, size_t n)
{
	size_t to = 0;

	for (size_t i = 0; i < n; i++) {
		int byte = text[i] == '%' ? escaped(text + i, n - i) : -1;

		text[to++] = byte < 0 ? text[i] : (char)byte;
		i += byte < 0 ? 0 : 2;
	}
	return to;
}

/* What would be taken for something else because of where it stands: a comment, a none, a margin, an address. */
static bool misleads(const char *text, size_t n, size_t i)
{
	bool edge = i == 0 || i == n - 1;

	switch (text[i]) {
	case ' ':
	case '\t': return edge;
	case '#': return i == 0;
	case '-': return n == 1;
	case 'x': return i == 1 && n > 2 && text[0] == '0';
	default: return false;
	}
}

static bool must_escape(const char *text, size_t n, size_t i, const uint8_t class[256], bool commas)
{
	switch (class[(uint8_t)text[i]]) {
	case BYTE_PLAIN: return misleads(text, n, i);
	case BYTE_COMMA: return commas;
	case BYTE_PERCENT: return escaped(text + i, n - i) >= 0;
	default: return true;
	}
}

void text_escape(struct str *to, const char *text, size_t n, const uint8_t class[256], bool commas)
{
	size_t done = 0;

	for (size_t i = 0; i < n; i++) {
		if (!must_escape(text, n, i, class, commas))
			continue;
		str_bytes(to, text + done, i - done);
		str_printf(to, "%%%02X", (uint8_t)text[i]);
		done = i + 1;
	}
	str_bytes(to, text + done, n - done);
}
