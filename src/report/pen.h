/* SPDX-License-Identifier: MIT */
/*
 * Writes lines of known width: every mark goes through it, so it knows the column it stands at. Colours take none.
 */
#ifndef FISSION_REPORT_PEN_H
#define FISSION_REPORT_PEN_H

#include "report/harmless.h"

struct look;

/* Sparing: how sure it is, and who does what. The block is blue, what splits it red. */
enum ink { INK_PLAIN, INK_STRONG, INK_DIM, INK_SURE, INK_UNSURE, INK_BLOCK, INK_CULPRIT, INKS };

/* What pictures are drawn with. */
struct glyphs {
	const char *mark;   /* before an access that has a role */
	const char *rule;   /* over and under the window, again and again */
	const char *top, *side, *bottom; /* where the rule begins and ends, and between */
	const char *event, *rail; /* of a thread among many */
};

struct pen {
	struct str *to;
	const struct look *look;
	const struct glyphs *glyphs;
	unsigned width; /* where prose and rules end */
	unsigned at;    /* columns of this line that are written */
};

void pen_init(struct pen *p, struct str *to, const struct look *look);

/* Our own words, ASCII; and one of the glyphs. */
void pen_add(struct pen *p, const char *words);
void pen_printf(struct pen *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pen_glyph(struct pen *p, const char *glyph);

/* A name; at most so many columns of it, 0: as many as any name has. */
void pen_name(struct pen *p, struct text name, unsigned most);

/* On to the column; at least one blank if the pen is there already, or behind it. */
void pen_to(struct pen *p, unsigned column);

/* What follows is written in that ink. */
void pen_ink(struct pen *p, enum ink ink);

void pen_line(struct pen *p);

/*
 * A paragraph: the harmless words, broken at blanks where they reach the width. The first line goes on where the pen
 * stands, the others begin at `indent`. Ends its line.
 */
void pen_prose(struct pen *p, unsigned indent, const struct str *words);

/* How names are written for the reader of `look`. */
struct harmless pen_manner(const struct look *look);

#endif
