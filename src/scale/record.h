/* SPDX-License-Identifier: MIT */
/*
 * Records: what units, results and campaigns are written as. A record is a list of named fields, each of any bytes:
 *
 *   name length\n
 *   bytes\n
 *
 * A name may come more than once. The same fields in the same order are the same bytes, so a record can be named by its
 * hash (address.h). Nothing read is trusted: a field that does not fit ends the record, and record_is() says so first.
 */
#ifndef FISSION_SCALE_RECORD_H
#define FISSION_SCALE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"

struct str;

struct record_field {
	struct text name, value;
};

void record_put(struct str *to, const char *name, struct text value);
void record_put_word(struct str *to, const char *name, const char *word);
void record_put_number(struct str *to, const char *name, uint64_t n);

/* Takes the next field off the front. False at the end, and where what follows is no field. */
bool record_next(struct text *rest, struct record_field *f);

/* The first field of that name; its `at` is NULL if there is none. */
struct text record_get(struct text record, const char *name);

/* The field as a number; 0 if there is none, or it is none. */
uint64_t record_number(struct text record, const char *name);

/* Whether it is whole, and its first field is this one. */
bool record_is(struct text record, const char *name, const char *value);

/* A copy of the text that ends with NUL, in the arena. */
struct arena;
char *record_word(struct arena *a, struct text t);

#endif
