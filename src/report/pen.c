/* SPDX-License-Identifier: MIT */
#include "pen.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "report/look.h"

enum { WIDTH_MOST = 100, WIDTH_LEAST = 40 };

static const char *const inks[INKS] = {
	[INK_PLAIN] = "\033[0m", [INK_STRONG] = "\033[1m", [INK_DIM] = "\033[2m", [INK_SURE] = "\033[1;31m",
	[INK_UNSURE] = "\033[1;33m", [INK_BLOCK] = "\033[1;34m", [INK_CULPRIT] = "\033[1;31m",
};

static const struct glyphs plain = {">", " -", "+-", "|", "+-", "*", "."};
static const struct glyphs drawn = {"▸", "╌", "┌╌", "│", "└╌", "●", "│"};

void pen_init(struct pen *p, struct str *to, const struct look *look)
{
	unsigned columns = look->columns < WIDTH_LEAST ? WIDTH_LEAST : look->columns;

	*p = (struct pen){.to = to, .look = look, .glyphs = look->utf8 ? &drawn : &plain};
	p->width = columns < WIDTH_MOST ? columns : WIDTH_MOST;
}

struct harmless pen_manner(const struct look *look)
{
	return (struct harmless){.utf8 = look->utf8};
}

void pen_add(struct pen *p, const char *words)
{
	str_add(p->to, words);
	p->at += (unsigned)strlen(words);
}

void pen_printf(struct pen *p, const char *format, ...)
{
	char words[128];
	va_list list;

	va_start(list, format);
	vsnprintf(words, sizeof words, format, list);
	va_end(list);
	pen_add(p, words);
}

void pen_glyph(struct pen *p, const char *glyph)
{
	str_add(p->to, glyph);
	p->at += harmless_columns(glyph, strlen(glyph));
}

void pen_name(struct pen *p, struct text name, unsigned most)
{
	p->at += harmless_add(p->to, name, (struct harmless){p->look->utf8, most});
}

void pen_to(struct pen *p, unsigned column)
{
	do
		pen_add(p, " ");
	while (p->at < column);
}

void pen_ink(struct pen *p, enum ink ink)
{
	if (p->look->colour)
		str_add(p->to, inks[ink]);
}

void pen_line(struct pen *p)
{
	str_char(p->to, '\n');
	p->at = 0;
}

/* The end of the word that begins at `from`. */
static size_t word_end(const struct str *words, size_t from)
{
	while (from < words->length && words->at[from] != ' ')
		from++;
	return from;
}

void pen_prose(struct pen *p, unsigned indent, const struct str *words)
{
	bool begun = false;

	for (size_t from = 0, end; from < words->length; from = end + 1) {
		unsigned columns;

		end = word_end(words, from);
		columns = harmless_columns(words->at + from, end - from);
		if (begun && p->at + 1 + columns > p->width) {
			pen_line(p);
			pen_to(p, indent);
		} else if (begun) {
			pen_add(p, " ");
		}
		str_bytes(p->to, words->at + from, end - from);
		p->at += columns;
		begun = true;
	}
	pen_line(p);
}
