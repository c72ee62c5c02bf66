/* SPDX-License-Identifier: MIT */
/*
 * Names as they stand in text traces: which characters are plain, and how the others are written.
 *
 * A byte that would end the name is written as % and two hexadecimal digits. Only those escapes are undone that
 * the writer makes, so every other percent sign, and every name without one, stands for itself.
 */
#ifndef FISSION_EVENT_TEXT_NAMES_H
#define FISSION_EVENT_TEXT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str;

/* What a byte is to the scanner; BYTE_PLAIN is 0 so that the scan is a loop on one table. */
enum byte_class { BYTE_PLAIN, BYTE_COMMA, BYTE_PERCENT, BYTE_ENDS };

extern const uint8_t text_name_class[256];  /* threads, variables, locks, functions */
extern const uint8_t text_place_class[256]; /* places: blanks, brackets and commas are plain */

/* Undoes the escapes of n bytes in place; returns the new length. */
size_t text_unescape(char *text, size_t n);

/* Appends a name, escaped by the class table; a comma is escaped too if `commas`. */
void text_escape(struct str *to, const char *text, size_t n, const uint8_t class[256], bool commas);

#endif
