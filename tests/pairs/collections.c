/* SPDX-License-Identifier: MIT */
/* The four collections in one thread: that each operation does what its name says. Ends with 0, or says where it is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hashtable.h"
#include "stack.h"
#include "string_buffer.h"

#define MUST(what) \
	do { \
		if (!(what)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what); \
			exit(1); \
		} \
	} while (0)

/* Frees the text. */
static int is(char *text, const char *expected)
{
	int same = strcmp(text, expected) == 0;

	free(text);
	return same;
}

static void test_string_buffer(void)
{
	struct string_buffer *a = string_buffer_new("abc"), *b = string_buffer_new("-xyz");

	MUST(string_buffer_append_buffer(a, b) == BUFFER_GOOD && is(string_buffer_to_string(a), "abc-xyz"));
	MUST(string_buffer_insert(a, 3, "++") == BUFFER_GOOD && is(string_buffer_to_string(a), "abc++-xyz"));
	MUST(string_buffer_delete_range(a, 3, 6) == BUFFER_GOOD && is(string_buffer_to_string(a), "abcxyz"));
	MUST(string_buffer_replace(a, 0, 2, "q") == BUFFER_GOOD && is(string_buffer_to_string(a), "qcxyz"));
	string_buffer_reverse(a);
	MUST(is(string_buffer_to_string(a), "zyxcq") && string_buffer_index_of(a, "xc") == 2);
	MUST(string_buffer_append_int(a, -42) == BUFFER_GOOD && is(string_buffer_substring(a, 5), "-42"));
	MUST(string_buffer_last_index_of(a, "4") == 6 && string_buffer_index_of(a, "no") == -1);
	MUST(string_buffer_set_length(a, 2) == BUFFER_GOOD && string_buffer_length(a) == 2);
	MUST(string_buffer_char_at(a, 2) == BUFFER_RANGE && string_buffer_insert(a, 3, "x") == BUFFER_RANGE);
	string_buffer_delete(a);
	string_buffer_delete(b);
}

static struct vector *vector_of(long from, long to)
{
	struct vector *v = vector_new();

	for (long i = from; i <= to; i++)
		vector_add(v, i);
	return v;
}

static void test_vector(void)
{
	struct vector *a = vector_of(1, 12), *b = vector_of(10, 14), *c = vector_new_from(a);
	long x = 0;

	MUST(vector_equals(a, c) == 1 && vector_equals(a, b) == 0 && vector_hash_code(a) == vector_hash_code(c));
	MUST(vector_remove_all(a, b) == 1 && vector_size(a) == 9 && vector_contains_all(c, a) == 1);
	MUST(vector_retain_all(c, b) == 1 && is(vector_to_string(c), "[10, 11, 12]"));
	MUST(vector_add_all_at(c, 1, b) == 1 && is(vector_to_string(c), "[10, 10, 11, 12, 13, 14, 11, 12]"));
	MUST(vector_last_index_of(c, 11) == 6 && vector_index_of(c, 11) == 2 && vector_contains(c, 14));
	MUST(vector_remove(c, 11) && vector_get(c, 2, &x) == VECTOR_GOOD && x == 12);
	MUST(vector_remove_range(c, 0, 5) == VECTOR_GOOD && is(vector_to_string(c), "[11, 12]"));
	MUST(vector_set_size(c, 3) == VECTOR_GOOD && vector_last_element(c, &x) == VECTOR_GOOD && x == 0);
	vector_clear(c);
	MUST(vector_is_empty(c) && vector_first_element(c, &x) == VECTOR_BAD);
	vector_delete(a);
	vector_delete(b);
	vector_delete(c);
}

static void test_stack(void)
{
	struct stack *s = stack_new();
	long x = 0;

	MUST(stack_empty(s) && stack_pop(s, &x) == VECTOR_BAD);
	for (long i = 1; i <= 20; i++)
		stack_push(s, i);
	MUST(stack_search(s, 18) == 3 && stack_search(s, 99) == -1);
	MUST(stack_pop(s, &x) == VECTOR_GOOD && x == 20 && stack_peek(s, &x) == VECTOR_GOOD && x == 19);
	stack_delete(s);
}

static void test_hashtable(void)
{
	struct hashtable *a = hashtable_new(2), *b;
	long value = 0;

	for (long i = 0; i < 100; i++)
		MUST(!hashtable_put(a, i, i * i, NULL));
	b = hashtable_new_from(a);
	MUST(hashtable_size(b) == 100 && hashtable_equals(a, b) == 1 && hashtable_hash_code(a) == hashtable_hash_code(b));
	MUST(hashtable_remove(b, 7, &value) && value == 49 && !hashtable_contains_key(b, 7) && !hashtable_equals(a, b));
	MUST(hashtable_put(b, 8, 1, &value) && value == 64 && hashtable_get(b, 8, &value) && value == 1);
	MUST(hashtable_contains_value(a, 81) && !hashtable_contains(a, 82));
	hashtable_clear(b);
	MUST(hashtable_is_empty(b) && is(hashtable_to_string(b), "{}"));
	hashtable_put(b, 3, 4, NULL);
	MUST(is(hashtable_to_string(b), "{3=4}") && hashtable_key_set(b) == hashtable_key_set(b));
	hashtable_delete(a);
	hashtable_delete(b);
}

int main(void)
{
	test_string_buffer();
	test_vector();
	test_stack();
	test_hashtable();
	return 0;
}
