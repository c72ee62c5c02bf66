/* SPDX-License-Identifier: MIT */
/*
 * StringBuffer of the JDK 1.4.2: a text that grows, safe for use by several threads, as its documentation says.
 *
 * Each method is synchronized, and no field is touched without the lock: there is no data race. One method is not
 * atomic all the same, string_buffer_append_buffer (003 Figure 1): it asks the other buffer for its length, and then
 * for so many characters; in between someone may have cut it.
 *
 * Where the original throws an exception a function here returns BUFFER_RANGE, and has changed nothing.
 */
#ifndef COLLECTIONS_STRING_BUFFER_H
#define COLLECTIONS_STRING_BUFFER_H

#include <stdbool.h>

#include "monitor.h"

enum { BUFFER_GOOD = 0, BUFFER_RANGE = -1 };

struct string_buffer {
	struct monitor monitor;
	int count;    /* characters in use; guarded by the monitor */
	int capacity; /* of value; guarded by the monitor */
	char *value;  /* guarded by the monitor */
};

struct string_buffer *string_buffer_new(const char *text);
void string_buffer_delete(struct string_buffer *b);

int string_buffer_length(struct string_buffer *b);
int string_buffer_capacity(struct string_buffer *b);
void string_buffer_ensure_capacity(struct string_buffer *b, int least);
int string_buffer_set_length(struct string_buffer *b, int length); /* what is new is filled with zeros */
int string_buffer_char_at(struct string_buffer *b, int index);
int string_buffer_get_chars(struct string_buffer *b, int begin, int end, char *to);
int string_buffer_set_char_at(struct string_buffer *b, int index, char ch);

/* The text goes behind what is there. */
int string_buffer_append(struct string_buffer *b, const char *text);
int string_buffer_append_buffer(struct string_buffer *b, struct string_buffer *other);
int string_buffer_append_chars(struct string_buffer *b, const char *text, int offset, int length);
int string_buffer_append_char(struct string_buffer *b, char ch);
int string_buffer_append_bool(struct string_buffer *b, bool value);
int string_buffer_append_int(struct string_buffer *b, int value);
int string_buffer_append_long(struct string_buffer *b, long value);
int string_buffer_append_double(struct string_buffer *b, double value);

int string_buffer_delete_range(struct string_buffer *b, int begin, int end);
int string_buffer_delete_char_at(struct string_buffer *b, int index);
int string_buffer_replace(struct string_buffer *b, int begin, int end, const char *text);

/* In memory that the caller frees; NULL: out of range. */
char *string_buffer_substring(struct string_buffer *b, int begin);
char *string_buffer_substring_to(struct string_buffer *b, int begin, int end);
char *string_buffer_to_string(struct string_buffer *b);

int string_buffer_insert(struct string_buffer *b, int offset, const char *text);
int string_buffer_insert_char(struct string_buffer *b, int offset, char ch);
int string_buffer_insert_bool(struct string_buffer *b, int offset, bool value);
int string_buffer_insert_int(struct string_buffer *b, int offset, int value);
int string_buffer_insert_long(struct string_buffer *b, int offset, long value);

/* -1 if the text is not in it. */
int string_buffer_index_of(struct string_buffer *b, const char *text);
int string_buffer_index_of_from(struct string_buffer *b, const char *text, int from);
int string_buffer_last_index_of(struct string_buffer *b, const char *text);
int string_buffer_last_index_of_from(struct string_buffer *b, const char *text, int from);

void string_buffer_reverse(struct string_buffer *b);

#endif
