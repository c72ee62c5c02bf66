/* SPDX-License-Identifier: MIT */
/*
 * Characters of a text that may hold anything: where each one ends, and how wide a terminal draws it.
 *
 * The width is a simple rule and no table of Unicode: marks that combine take no room, the East Asian blocks and
 * pictures take two columns, all else takes one. Terminals differ among themselves by more than that.
 */
#ifndef FISSION_BASE_UTF8_H
#define FISSION_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the UTF-8 sequence at `at`, which has n > 0 bytes; 0 if it is none: overlong, cut, a surrogate. */
size_t utf8_sequence(const char *at, size_t n);

/* The character of a sequence of that length. */
uint32_t utf8_character(const char *at, size_t length);

/* How many columns a character takes that is drawn: 0 to 2. */
unsigned utf8_columns(uint32_t c);

/*
 * Whether a terminal would do something else than draw it: controls, what turns the direction of writing, what is not
 * seen.
 */
bool utf8_controls(uint32_t c);

#endif
