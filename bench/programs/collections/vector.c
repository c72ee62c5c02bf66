/* SPDX-License-Identifier: MIT */
#include "vector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

void vector_init(struct vector *v, int capacity)
{
	*v = (struct vector){.capacity = capacity};
	monitor_init(&v->monitor);
	v->element_data = must(calloc((size_t)capacity + 1, sizeof *v->element_data));
}

void vector_free(struct vector *v)
{
	monitor_free(&v->monitor);
	free(v->element_data);
}

struct vector *vector_new(void)
{
	struct vector *v = must(malloc(sizeof *v));

	vector_init(v, 10);
	return v;
}

/*
 * 004 Figure 1. Between the two calls the other may shrink: then the new one has elements that nobody has put there. It
 * may grow: then the array is too short, to_array_in fills another one, and that is lost.
 */
struct vector *vector_new_from(struct vector *other)
{
	struct vector *v = must(malloc(sizeof *v));
	int count = vector_size(other);
	long *array;

	vector_init(v, (int)(count * 110L / 100));
	v->element_count = count;
	array = vector_to_array_in(other, v->element_data, v->capacity);
	if (array != v->element_data)
		free(array);
	return v;
}

void vector_delete(struct vector *v)
{
	vector_free(v);
	free(v);
}

/* The monitor is held by the caller of each function up to the next comment. */

static void make_room(struct vector *v, int least)
{
	int capacity;

	if (least <= v->capacity)
		return;
	capacity = v->capacity_increment > 0 ? v->capacity + v->capacity_increment : v->capacity * 2;
	if (capacity < least)
		capacity = least;
	v->element_data = must(realloc(v->element_data, ((size_t)capacity + 1) * sizeof *v->element_data));
	v->capacity = capacity;
}

static void open_gap(struct vector *v, int index, int length)
{
	make_room(v, v->element_count + length);
	memmove(v->element_data + index + length, v->element_data + index,
		(size_t)(v->element_count - index) * sizeof *v->element_data);
	v->element_count += length;
}

static void close_gap(struct vector *v, int from, int to)
{
	memmove(v->element_data + from, v->element_data + to,
		(size_t)(v->element_count - to) * sizeof *v->element_data);
	v->element_count -= to - from;
}

static bool has(const struct vector *v, int index)
{
	return index >= 0 && index < v->element_count;
}

/* One vector. */

int vector_size(struct vector *v)
{
	int count;

	monitor_enter(&v->monitor);
	count = v->element_count;
	monitor_exit(&v->monitor);
	return count;
}

int vector_capacity(struct vector *v)
{
	int capacity;

	monitor_enter(&v->monitor);
	capacity = v->capacity;
	monitor_exit(&v->monitor);
	return capacity;
}

bool vector_is_empty(struct vector *v)
{
	bool empty;

	monitor_enter(&v->monitor);
	empty = v->element_count == 0;
	monitor_exit(&v->monitor);
	return empty;
}

void vector_trim_to_size(struct vector *v)
{
	monitor_enter(&v->monitor);
	v->mod_count++;
	if (v->element_count < v->capacity) {
		v->capacity = v->element_count;
		v->element_data = must(realloc(v->element_data, ((size_t)v->capacity + 1) * sizeof *v->element_data));
	}
	monitor_exit(&v->monitor);
}

void vector_ensure_capacity(struct vector *v, int least)
{
	monitor_enter(&v->monitor);
	v->mod_count++;
	make_room(v, least);
	monitor_exit(&v->monitor);
}

int vector_set_size(struct vector *v, int size)
{
	if (size < 0)
		return VECTOR_BAD;
	monitor_enter(&v->monitor);
	v->mod_count++;
	make_room(v, size);
	for (int i = v->element_count; i < size; i++)
		v->element_data[i] = 0;
	v->element_count = size;
	monitor_exit(&v->monitor);
	return VECTOR_GOOD;
}

bool vector_contains(struct vector *v, long element)
{
	return vector_index_of_from(v, element, 0) >= 0;
}

int vector_index_of(struct vector *v, long element)
{
	return vector_index_of_from(v, element, 0);
}

int vector_index_of_from(struct vector *v, long element, int from)
{
	int found = -1;

	monitor_enter(&v->monitor);
	for (int i = from; found < 0 && i < v->element_count; i++)
		if (v->element_data[i] == element)
			found = i;
	monitor_exit(&v->monitor);
	return found;
}

int vector_last_index_of(struct vector *v, long element)
{
	int found;

	monitor_enter(&v->monitor);
	found = vector_last_index_of_from(v, element, v->element_count - 1);
	monitor_exit(&v->monitor);
	return found;
}

int vector_last_index_of_from(struct vector *v, long element, int from)
{
	int found = -1;

	monitor_enter(&v->monitor);
	for (int i = from < v->element_count ? from : -1; found < 0 && i >= 0; i--)
		if (v->element_data[i] == element)
			found = i;
	monitor_exit(&v->monitor);
	return found;
}

int vector_get(struct vector *v, int index, long *to)
{
	int result = VECTOR_BAD;

	monitor_enter(&v->monitor);
	if (has(v, index)) {
		*to = v->element_data[index];
		result = VECTOR_GOOD;
	}
	monitor_exit(&v->monitor);
	return result;
}

int vector_element_at(struct vector *v, int index, long *to)
{
	return vector_get(v, index, to);
}

int vector_first_element(struct vector *v, long *to)
{
	return vector_get(v, 0, to);
}

int vector_last_element(struct vector *v, long *to)
{
	int result;

	monitor_enter(&v->monitor);
	result = vector_get(v, v->element_count - 1, to);
	monitor_exit(&v->monitor);
	return result;
}

int vector_set(struct vector *v, int index, long element)
{
	int result = VECTOR_BAD;

	monitor_enter(&v->monitor);
	if (has(v, index)) {
		v->element_data[index] = element;
		result = VECTOR_GOOD;
	}
	monitor_exit(&v->monitor);
	return result;
}

int vector_set_element_at(struct vector *v, long element, int index)
{
	return vector_set(v, index, element);
}

int vector_remove_at(struct vector *v, int index)
{
	int result = VECTOR_BAD;

	monitor_enter(&v->monitor);
	v->mod_count++;
	if (has(v, index)) {
		close_gap(v, index, index + 1);
		result = VECTOR_GOOD;
	}
	monitor_exit(&v->monitor);
	return result;
}

int vector_remove_element_at(struct vector *v, int index)
{
	return vector_remove_at(v, index);
}

int vector_insert_element_at(struct vector *v, long element, int index)
{
	int result = VECTOR_BAD;

	monitor_enter(&v->monitor);
	v->mod_count++;
	if (index >= 0 && index <= v->element_count) {
		open_gap(v, index, 1);
		v->element_data[index] = element;
		result = VECTOR_GOOD;
	}
	monitor_exit(&v->monitor);
	return result;
}

int vector_add_at(struct vector *v, int index, long element)
{
	return vector_insert_element_at(v, element, index);
}

int vector_remove_range(struct vector *v, int from, int to)
{
	int result = VECTOR_BAD;

	monitor_enter(&v->monitor);
	v->mod_count++;
	if (from >= 0 && from <= to && to <= v->element_count) {
		close_gap(v, from, to);
		result = VECTOR_GOOD;
	}
	monitor_exit(&v->monitor);
	return result;
}

void vector_add_element(struct vector *v, long element)
{
	monitor_enter(&v->monitor);
	v->mod_count++;
	make_room(v, v->element_count + 1);
	v->element_data[v->element_count++] = element;
	monitor_exit(&v->monitor);
}

bool vector_add(struct vector *v, long element)
{
	vector_add_element(v, element);
	return true;
}

bool vector_remove_element(struct vector *v, long element)
{
	int at;

	monitor_enter(&v->monitor);
	v->mod_count++;
	at = vector_index_of(v, element);
	if (at >= 0)
		vector_remove_element_at(v, at);
	monitor_exit(&v->monitor);
	return at >= 0;
}

bool vector_remove(struct vector *v, long element)
{
	return vector_remove_element(v, element);
}

void vector_remove_all_elements(struct vector *v)
{
	monitor_enter(&v->monitor);
	v->mod_count++;
	for (int i = 0; i < v->element_count; i++)
		v->element_data[i] = 0;
	v->element_count = 0;
	monitor_exit(&v->monitor);
}

void vector_clear(struct vector *v)
{
	vector_remove_all_elements(v);
}

struct vector *vector_clone(struct vector *v)
{
	struct vector *copy = must(malloc(sizeof *copy));

	monitor_enter(&v->monitor);
	vector_init(copy, v->element_count);
	memcpy(copy->element_data, v->element_data, (size_t)v->element_count * sizeof *v->element_data);
	copy->element_count = v->element_count;
	monitor_exit(&v->monitor);
	return copy;
}

long *vector_to_array(struct vector *v, int *length)
{
	long *array;

	monitor_enter(&v->monitor);
	*length = v->element_count;
	array = must(malloc(((size_t)v->element_count + 1) * sizeof *array));
	memcpy(array, v->element_data, (size_t)v->element_count * sizeof *array);
	monitor_exit(&v->monitor);
	return array;
}

long *vector_to_array_in(struct vector *v, long *array, int length)
{
	monitor_enter(&v->monitor);
	if (length < v->element_count)
		array = must(malloc((size_t)v->element_count * sizeof *array));
	memcpy(array, v->element_data, (size_t)v->element_count * sizeof *array);
	if (length > v->element_count)
		array[v->element_count] = 0;
	monitor_exit(&v->monitor);
	return array;
}

int vector_copy_into(struct vector *v, long *array, int length)
{
	int result = VECTOR_BAD;

	monitor_enter(&v->monitor);
	if (v->element_count <= length) {
		memcpy(array, v->element_data, (size_t)v->element_count * sizeof *array);
		result = VECTOR_GOOD;
	}
	monitor_exit(&v->monitor);
	return result;
}

/* Iterators, from AbstractList. */

struct vector_iterator vector_iterator(struct vector *v)
{
	return (struct vector_iterator){v, 0, -1, v->mod_count};
}

bool vector_has_next(struct vector_iterator *i)
{
	return i->cursor != vector_size(i->vector);
}

static bool is_as_expected(const struct vector_iterator *i)
{
	return i->vector->mod_count == i->expected;
}

int vector_next(struct vector_iterator *i, long *to)
{
	if (!is_as_expected(i) || vector_get(i->vector, i->cursor, to) != VECTOR_GOOD)
		return VECTOR_BAD;
	i->last = i->cursor++;
	return VECTOR_GOOD;
}

int vector_iterator_remove(struct vector_iterator *i)
{
	if (i->last < 0 || !is_as_expected(i) || vector_remove_at(i->vector, i->last) != VECTOR_GOOD)
		return VECTOR_BAD;
	if (i->last < i->cursor)
		i->cursor--;
	i->last = -1;
	i->expected = i->vector->mod_count;
	return VECTOR_GOOD;
}

/* Two vectors. */

/* From AbstractCollection: goes through the other, and looks for each of its elements here. */
static int contains_each(struct vector *v, struct vector *other)
{
	struct vector_iterator i = vector_iterator(other);
	long element;

	while (vector_has_next(&i)) {
		if (vector_next(&i, &element) != VECTOR_GOOD)
			return VECTOR_BAD;
		if (!vector_contains(v, element))
			return 0;
	}
	return 1;
}

/* From AbstractCollection: goes through its own elements, and asks the other about each. */
static int remove_each(struct vector *v, struct vector *other, bool that_are_there)
{
	struct vector_iterator i = vector_iterator(v);
	int changed = 0;
	long element;

	while (vector_has_next(&i)) {
		if (vector_next(&i, &element) != VECTOR_GOOD)
			return VECTOR_BAD;
		if (vector_contains(other, element) != that_are_there)
			continue;
		if (vector_iterator_remove(&i) != VECTOR_GOOD)
			return VECTOR_BAD;
		changed = 1;
	}
	return changed;
}

/* From AbstractList. */
static int equals_each(struct vector *v, struct vector *other)
{
	struct vector_iterator a = vector_iterator(v), b = vector_iterator(other);
	long x, y;

	while (vector_has_next(&a) && vector_has_next(&b)) {
		if (vector_next(&a, &x) != VECTOR_GOOD || vector_next(&b, &y) != VECTOR_GOOD)
			return VECTOR_BAD;
		if (x != y)
			return 0;
	}
	return !(vector_has_next(&a) || vector_has_next(&b));
}

int vector_contains_all(struct vector *v, struct vector *other)
{
	int result;

	monitor_enter(&v->monitor);
	result = contains_each(v, other);
	monitor_exit(&v->monitor);
	return result;
}

int vector_add_all(struct vector *v, struct vector *other)
{
	int result, length;
	long *array;

	monitor_enter(&v->monitor);
	v->mod_count++;
	array = vector_to_array(other, &length);
	make_room(v, v->element_count + length);
	memcpy(v->element_data + v->element_count, array, (size_t)length * sizeof *array);
	v->element_count += length;
	result = length != 0;
	monitor_exit(&v->monitor);
	free(array);
	return result;
}

int vector_add_all_at(struct vector *v, int index, struct vector *other)
{
	int result = VECTOR_BAD, length;
	long *array = NULL;

	monitor_enter(&v->monitor);
	v->mod_count++;
	if (index >= 0 && index <= v->element_count) {
		array = vector_to_array(other, &length);
		open_gap(v, index, length);
		memcpy(v->element_data + index, array, (size_t)length * sizeof *array);
		result = length != 0;
	}
	monitor_exit(&v->monitor);
	free(array);
	return result;
}

int vector_remove_all(struct vector *v, struct vector *other)
{
	int result;

	monitor_enter(&v->monitor);
	result = remove_each(v, other, true);
	monitor_exit(&v->monitor);
	return result;
}

int vector_retain_all(struct vector *v, struct vector *other)
{
	int result;

	monitor_enter(&v->monitor);
	result = remove_each(v, other, false);
	monitor_exit(&v->monitor);
	return result;
}

int vector_equals(struct vector *v, struct vector *other)
{
	int result;

	if (v == other)
		return 1;
	monitor_enter(&v->monitor);
	result = equals_each(v, other);
	monitor_exit(&v->monitor);
	return result;
}

int vector_hash_code(struct vector *v)
{
	unsigned code = 1;

	monitor_enter(&v->monitor);
	for (int i = 0; i < v->element_count; i++)
		code = 31 * code + (unsigned)v->element_data[i];
	monitor_exit(&v->monitor);
	return (int)code;
}

char *vector_to_string(struct vector *v)
{
	char *text = NULL;
	size_t length;
	FILE *to = must(open_memstream(&text, &length));

	monitor_enter(&v->monitor);
	fputc('[', to);
	for (int i = 0; i < v->element_count; i++)
		fprintf(to, "%s%ld", i ? ", " : "", v->element_data[i]);
	fputc(']', to);
	monitor_exit(&v->monitor);
	fclose(to);
	return text;
}
