/* SPDX-License-Identifier: MIT */
#include "harmless.h"

#include <string.h>

#include "base/str.h"
#include "base/utf8.h"

/* The next piece of a text: a character as it is, or a byte to be spelt. */
struct piece {
	size_t bytes;
	unsigned columns;
	bool spelt;
};

static struct piece next_piece(const char *at, size_t n, bool utf8)
{
	size_t length = utf8_sequence(at, n);
	uint32_t c = length ? utf8_character(at, length) : 0;

	if (length == 0 || utf8_controls(c) || (c > 0x7e && !utf8))
		return (struct piece){1, 4, true};
	return (struct piece){length, utf8_columns(c), false};
}

/*
 * How many bytes of the text fit into `most` columns. Marks take no columns, so bytes are limited too: nobody sees the
 * hundredth mark on one letter.
 */
static size_t fitting(struct text t, unsigned most, bool utf8)
{
	unsigned columns = 0;
	size_t at = 0;

	while (at < t.length && at < 4 * (size_t)most) {
		struct piece p = next_piece(t.at + at, t.length - at, utf8);

		if (columns + p.columns > most)
			break;
		columns += p.columns;
		at += p.bytes;
	}
	return at;
}

static unsigned add_pieces(struct str *to, const char *text, size_t length, bool utf8)
{
	unsigned columns = 0;
	struct piece p;

	for (size_t i = 0; i < length; i += p.bytes) {
		p = next_piece(text + i, length - i, utf8);
		columns += p.columns;
		if (to && p.spelt)
			str_printf(to, "\\x%02x", (unsigned char)text[i]);
		else if (to)
			str_bytes(to, text + i, p.bytes);
	}
	return columns;
}

unsigned harmless_add(struct str *to, struct text t, struct harmless how)
{
	unsigned most = how.most ? how.most : NAME_MOST, columns;

	if (fitting(t, most, how.utf8) == t.length)
		return add_pieces(to, t.at, t.length, how.utf8);
	columns = add_pieces(to, t.at, fitting(t, most < 4 ? 1 : most - 3, how.utf8), how.utf8);
	if (to)
		str_add(to, "...");
	return columns + 3;
}

struct text text_of(const char *words)
{
	return (struct text){words, strlen(words)};
}

unsigned harmless_columns(const char *at, size_t length)
{
	return add_pieces(NULL, at, length, true);
}
