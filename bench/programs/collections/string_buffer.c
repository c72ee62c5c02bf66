/* SPDX-License-Identifier: MIT */
#include "string_buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Out of memory is nothing that a benchmark survives. */
static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

struct string_buffer *string_buffer_new(const char *text)
{
	struct string_buffer *b = must(calloc(1, sizeof *b));

	monitor_init(&b->monitor);
	b->capacity = (int)strlen(text) + 16;
	b->value = must(calloc((size_t)b->capacity, 1));
	string_buffer_append(b, text);
	return b;
}

void string_buffer_delete(struct string_buffer *b)
{
	monitor_free(&b->monitor);
	free(b->value);
	free(b);
}

/* The monitor is held by the caller of each function up to the next comment. */

static void expand(struct string_buffer *b, int least)
{
	int capacity = (b->capacity + 1) * 2;

	if (capacity < least)
		capacity = least;
	b->value = must(realloc(b->value, (size_t)capacity));
	b->capacity = capacity;
}

static void make_room(struct string_buffer *b, int least)
{
	if (least > b->capacity)
		expand(b, least);
}

static int append_bytes(struct string_buffer *b, const char *text, int length)
{
	make_room(b, b->count + length);
	memcpy(b->value + b->count, text, (size_t)length);
	b->count += length;
	return BUFFER_GOOD;
}

static void close_gap(struct string_buffer *b, int begin, int end)
{
	memmove(b->value + begin, b->value + end, (size_t)(b->count - end));
	b->count -= end - begin;
}

static int insert_bytes(struct string_buffer *b, int offset, const char *text)
{
	int length = (int)strlen(text);

	if (offset < 0 || offset > b->count)
		return BUFFER_RANGE;
	make_room(b, b->count + length);
	memmove(b->value + offset + length, b->value + offset, (size_t)(b->count - offset));
	memcpy(b->value + offset, text, (size_t)length);
	b->count += length;
	return BUFFER_GOOD;
}

static char *copy(struct string_buffer *b, int begin, int end)
{
	char *text;

	if (begin < 0 || end > b->count || begin > end)
		return NULL;
	text = must(malloc((size_t)(end - begin) + 1));
	memcpy(text, b->value + begin, (size_t)(end - begin));
	text[end - begin] = 0;
	return text;
}

static bool is_at(const struct string_buffer *b, int index, const char *text, int length)
{
	return index + length <= b->count && memcmp(b->value + index, text, (size_t)length) == 0;
}

/* The methods. */

int string_buffer_length(struct string_buffer *b)
{
	int count;

	monitor_enter(&b->monitor);
	count = b->count;
	monitor_exit(&b->monitor);
	return count;
}

int string_buffer_capacity(struct string_buffer *b)
{
	int capacity;

	monitor_enter(&b->monitor);
	capacity = b->capacity;
	monitor_exit(&b->monitor);
	return capacity;
}

void string_buffer_ensure_capacity(struct string_buffer *b, int least)
{
	monitor_enter(&b->monitor);
	make_room(b, least);
	monitor_exit(&b->monitor);
}

int string_buffer_set_length(struct string_buffer *b, int length)
{
	if (length < 0)
		return BUFFER_RANGE;
	monitor_enter(&b->monitor);
	make_room(b, length);
	if (b->count < length)
		memset(b->value + b->count, 0, (size_t)(length - b->count));
	b->count = length;
	monitor_exit(&b->monitor);
	return BUFFER_GOOD;
}

int string_buffer_char_at(struct string_buffer *b, int index)
{
	int ch = BUFFER_RANGE;

	monitor_enter(&b->monitor);
	if (index >= 0 && index < b->count)
		ch = (unsigned char)b->value[index];
	monitor_exit(&b->monitor);
	return ch;
}

int string_buffer_get_chars(struct string_buffer *b, int begin, int end, char *to)
{
	int result = BUFFER_RANGE;

	monitor_enter(&b->monitor);
	if (begin >= 0 && begin <= end && end <= b->count) {
		memcpy(to, b->value + begin, (size_t)(end - begin));
		result = BUFFER_GOOD;
	}
	monitor_exit(&b->monitor);
	return result;
}

int string_buffer_set_char_at(struct string_buffer *b, int index, char ch)
{
	int result = BUFFER_RANGE;

	monitor_enter(&b->monitor);
	if (index >= 0 && index < b->count) {
		b->value[index] = ch;
		result = BUFFER_GOOD;
	}
	monitor_exit(&b->monitor);
	return result;
}

int string_buffer_append(struct string_buffer *b, const char *text)
{
	int result;

	monitor_enter(&b->monitor);
	result = append_bytes(b, text, (int)strlen(text));
	monitor_exit(&b->monitor);
	return result;
}

/* 003 Figure 1: by the second call, the other buffer may be shorter than it was at the first. */
int string_buffer_append_buffer(struct string_buffer *b, struct string_buffer *other)
{
	int length, result;

	monitor_enter(&b->monitor);
	length = string_buffer_length(other);
	make_room(b, b->count + length);
	result = string_buffer_get_chars(other, 0, length, b->value + b->count);
	if (result == BUFFER_GOOD)
		b->count += length;
	monitor_exit(&b->monitor);
	return result;
}

int string_buffer_append_chars(struct string_buffer *b, const char *text, int offset, int length)
{
	int result;

	monitor_enter(&b->monitor);
	result = append_bytes(b, text + offset, length);
	monitor_exit(&b->monitor);
	return result;
}

int string_buffer_append_char(struct string_buffer *b, char ch)
{
	int result;

	monitor_enter(&b->monitor);
	result = append_bytes(b, &ch, 1);
	monitor_exit(&b->monitor);
	return result;
}

int string_buffer_append_bool(struct string_buffer *b, bool value)
{
	return string_buffer_append(b, value ? "true" : "false");
}

int string_buffer_append_int(struct string_buffer *b, int value)
{
	return string_buffer_append_long(b, value);
}

int string_buffer_append_long(struct string_buffer *b, long value)
{
	char text[32];

	snprintf(text, sizeof text, "%ld", value);
	return string_buffer_append(b, text);
}

int string_buffer_append_double(struct string_buffer *b, double value)
{
	char text[64];

	snprintf(text, sizeof text, "%.17g", value);
	return string_buffer_append(b, text);
}

int string_buffer_delete_range(struct string_buffer *b, int begin, int end)
{
	int result = BUFFER_RANGE;

	monitor_enter(&b->monitor);
	if (end > b->count)
		end = b->count;
	if (begin >= 0 && begin <= end) {
		close_gap(b, begin, end);
		result = BUFFER_GOOD;
	}
	monitor_exit(&b->monitor);
	return result;
}

int string_buffer_delete_char_at(struct string_buffer *b, int index)
{
	int result = BUFFER_RANGE;

	monitor_enter(&b->monitor);
	if (index >= 0 && index < b->count) {
		close_gap(b, index, index + 1);
		result = BUFFER_GOOD;
	}
	monitor_exit(&b->monitor);
	return result;
}

int string_buffer_replace(struct string_buffer *b, int begin, int end, const char *text)
{
	int result = BUFFER_RANGE;

	monitor_enter(&b->monitor);
	if (end > b->count)
		end = b->count;
	if (begin >= 0 && begin <= end) {
		close_gap(b, begin, end);
		result = insert_bytes(b, begin, text);
	}
	monitor_exit(&b->monitor);
	return result;
}

char *string_buffer_substring(struct string_buffer *b, int begin)
{
	char *text;

	monitor_enter(&b->monitor);
	text = string_buffer_substring_to(b, begin, b->count);
	monitor_exit(&b->monitor);
	return text;
}

char *string_buffer_substring_to(struct string_buffer *b, int begin, int end)
{
	char *text;

	monitor_enter(&b->monitor);
	text = copy(b, begin, end);
	monitor_exit(&b->monitor);
	return text;
}

char *string_buffer_to_string(struct string_buffer *b)
{
	return string_buffer_substring(b, 0);
}

int string_buffer_insert(struct string_buffer *b, int offset, const char *text)
{
	int result;

	monitor_enter(&b->monitor);
	result = insert_bytes(b, offset, text);
	monitor_exit(&b->monitor);
	return result;
}

int string_buffer_insert_char(struct string_buffer *b, int offset, char ch)
{
	const char text[] = {ch, 0};

	return string_buffer_insert(b, offset, text);
}

int string_buffer_insert_bool(struct string_buffer *b, int offset, bool value)
{
	return string_buffer_insert(b, offset, value ? "true" : "false");
}

int string_buffer_insert_int(struct string_buffer *b, int offset, int value)
{
	return string_buffer_insert_long(b, offset, value);
}

int string_buffer_insert_long(struct string_buffer *b, int offset, long value)
{
	char text[32];

	snprintf(text, sizeof text, "%ld", value);
	return string_buffer_insert(b, offset, text);
}

int string_buffer_index_of(struct string_buffer *b, const char *text)
{
	return string_buffer_index_of_from(b, text, 0);
}

int string_buffer_index_of_from(struct string_buffer *b, const char *text, int from)
{
	int length = (int)strlen(text), found = -1;

	monitor_enter(&b->monitor);
	for (int i = from < 0 ? 0 : from; found < 0 && i + length <= b->count; i++)
		if (is_at(b, i, text, length))
			found = i;
	monitor_exit(&b->monitor);
	return found;
}

int string_buffer_last_index_of(struct string_buffer *b, const char *text)
{
	int found;

	monitor_enter(&b->monitor);
	found = string_buffer_last_index_of_from(b, text, b->count);
	monitor_exit(&b->monitor);
	return found;
}

int string_buffer_last_index_of_from(struct string_buffer *b, const char *text, int from)
{
	int length = (int)strlen(text), found = -1, last;

	monitor_enter(&b->monitor);
	last = b->count - length;
	for (int i = from < last ? from : last; found < 0 && i >= 0; i--)
		if (is_at(b, i, text, length))
			found = i;
	monitor_exit(&b->monitor);
	return found;
}

void string_buffer_reverse(struct string_buffer *b)
{
	monitor_enter(&b->monitor);
	for (int i = 0, k = b->count - 1; i < k; i++, k--) {
		char ch = b->value[i];

		b->value[i] = b->value[k];
		b->value[k] = ch;
	}
	monitor_exit(&b->monitor);
}
