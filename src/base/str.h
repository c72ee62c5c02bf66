/* SPDX-License-Identifier: MIT */
/* A growing text, for output that is put together before it is written. Always NUL-terminated. */
#ifndef FISSION_BASE_STR_H
#define FISSION_BASE_STR_H

#include <stddef.h>

struct arena;

struct str {
	struct arena *arena;
	char *at;
	size_t length, capacity;
};

void str_init(struct str *s, struct arena *a);
void str_bytes(struct str *s, const char *bytes, size_t n);
void str_add(struct str *s, const char *text);
void str_char(struct str *s, char c);
void str_printf(struct str *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void str_number(struct str *s, unsigned long long n);
void str_clear(struct str *s);

#endif
