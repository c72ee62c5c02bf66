/* SPDX-License-Identifier: MIT */
/*
 * Names that a program gave, for a terminal: what is not drawn is spelt.
 *
 * Control characters, marks that turn the direction of writing, and bytes that are no UTF-8 become \xNN, a byte at a
 * time; without UTF-8 so does everything that is not ASCII. A text that is too long ends in "...". So a name can
 * neither move the cursor, nor break a line, nor fill the screen.
 */
#ifndef FISSION_REPORT_HARMLESS_H
#define FISSION_REPORT_HARMLESS_H

#include <stdbool.h>

#include "base/intern.h"

struct str;

struct harmless {
	bool utf8;     /* the reader's terminal shows it */
	unsigned most; /* columns; 0: NAME_MOST */
};

/* Of any name, wherever it stands. */
enum { NAME_MOST = 160 };

/* Appends the text, unless `to` is NULL. Returns how many columns that are. */
unsigned harmless_add(struct str *to, struct text t, struct harmless how);

/* A text of the tool's own. */
struct text text_of(const char *words);

/* The columns of a line that is harmless already. */
unsigned harmless_columns(const char *at, size_t length);

#endif
