/* SPDX-License-Identifier: MIT */
/* The methods of StringBuffer, for `fission pairs`: 004 Figure 6. */
#include <fission/pairs.h>
#include <stdlib.h>

#include "string_buffer.h"

static void *make(void)
{
	return string_buffer_new("fission");
}

static void drop(void *b)
{
	string_buffer_delete(b);
}

/* One function an operation, which is named as in the library; `b` is the object, `other` the second one. */
#define OPERATION(name, ...) \
	static void name(void *b, void *other, const void *argument) \
	{ \
		(void)b, (void)other, (void)argument; \
		__VA_ARGS__; \
	}

OPERATION(length, string_buffer_length(b))
OPERATION(capacity, string_buffer_capacity(b))
OPERATION(ensure_capacity, string_buffer_ensure_capacity(b, 100))
OPERATION(set_length, string_buffer_set_length(b, 3))
OPERATION(char_at, string_buffer_char_at(b, 2))
OPERATION(get_chars, char to[3]; string_buffer_get_chars(b, 1, 4, to))
OPERATION(set_char_at, string_buffer_set_char_at(b, 2, 'x'))
OPERATION(append, string_buffer_append(b, "ab"))
OPERATION(append_buffer, string_buffer_append_buffer(b, other))
OPERATION(append_chars, string_buffer_append_chars(b, "abcd", 1, 2))
OPERATION(append_char, string_buffer_append_char(b, 'c'))
OPERATION(append_bool, string_buffer_append_bool(b, true))
OPERATION(append_int, string_buffer_append_int(b, 42))
OPERATION(append_long, string_buffer_append_long(b, 43))
OPERATION(append_double, string_buffer_append_double(b, 0.5))
OPERATION(delete_range, string_buffer_delete_range(b, 1, 3))
OPERATION(delete_char_at, string_buffer_delete_char_at(b, 0))
OPERATION(replace, string_buffer_replace(b, 1, 3, "xyz"))
OPERATION(substring, free(string_buffer_substring(b, 2)))
OPERATION(substring_to, free(string_buffer_substring_to(b, 1, 3)))
OPERATION(to_string, free(string_buffer_to_string(b)))
OPERATION(insert, string_buffer_insert(b, 1, "ab"))
OPERATION(insert_char, string_buffer_insert_char(b, 0, 'c'))
OPERATION(insert_bool, string_buffer_insert_bool(b, 0, false))
OPERATION(insert_int, string_buffer_insert_int(b, 0, 42))
OPERATION(insert_long, string_buffer_insert_long(b, 0, 43))
OPERATION(index_of, string_buffer_index_of(b, "ss"))
OPERATION(index_of_from, string_buffer_index_of_from(b, "i", 2))
OPERATION(last_index_of, string_buffer_last_index_of(b, "i"))
OPERATION(last_index_of_from, string_buffer_last_index_of_from(b, "i", 3))
OPERATION(reverse, string_buffer_reverse(b))

#define ALONE(name) {#name, name, NULL, 0}

static const struct fission_operation operations[] = {
	ALONE(length), ALONE(capacity), ALONE(ensure_capacity), ALONE(set_length), ALONE(char_at), ALONE(get_chars),
	ALONE(set_char_at), ALONE(append), {"append_buffer", append_buffer, NULL, FISSION_OTHER}, ALONE(append_chars),
	ALONE(append_char), ALONE(append_bool), ALONE(append_int), ALONE(append_long), ALONE(append_double),
	ALONE(delete_range), ALONE(delete_char_at), ALONE(replace), ALONE(substring), ALONE(substring_to),
	ALONE(to_string), ALONE(insert), ALONE(insert_char), ALONE(insert_bool), ALONE(insert_int), ALONE(insert_long),
	ALONE(index_of), ALONE(index_of_from), ALONE(last_index_of), ALONE(last_index_of_from), ALONE(reverse), {0},
};

FISSION_PAIRS("StringBuffer", make, drop, operations)
