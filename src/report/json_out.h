/* SPDX-License-Identifier: MIT */
/*
 * Writing JSON: commas, quotes and brackets in the right places, whatever the texts hold.
 *
 * What comes out is always strict UTF-8. Bytes that are none become U+FFFD. Characters that could do harm where the
 * file is shown raw are escaped, which changes nothing for whoever parses it: control characters, those that turn the
 * direction of writing, and '<', so that a page may hold the text in an element.
 *
 * In an object every call has a key, in an array it is NULL. The caller closes what it has opened.
 */
#ifndef FISSION_REPORT_JSON_OUT_H
#define FISSION_REPORT_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"

struct str;

struct json_out {
	struct str *to;
	bool more; /* something stands before, in the same brackets */
};

void json_open(struct json_out *j, const char *key, char bracket);
void json_close(struct json_out *j, char bracket);

void json_text(struct json_out *j, const char *key, struct text value);
void json_word(struct json_out *j, const char *key, const char *value);
void json_number(struct json_out *j, const char *key, uint64_t value);
void json_bool(struct json_out *j, const char *key, bool value);

/* A member whose key is any text. Its value comes next. */
void json_key(struct json_out *j, struct text key);

/* Appends the text in quotes. */
void json_quote(struct str *to, struct text t);

#endif
