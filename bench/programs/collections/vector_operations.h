/* SPDX-License-Identifier: MIT */
/*
 * The methods of Vector, for `fission pairs`: 004 Figure 6. Vector and Stack, which inherits them, have them in their
 * tables. VECTOR(object) is defined before: the vector of an object of the table.
 */
#ifndef COLLECTIONS_VECTOR_OPERATIONS_H
#define COLLECTIONS_VECTOR_OPERATIONS_H

#include <fission/pairs.h>
#include <stdlib.h>

#include "vector.h"

/* One function an operation, which is named as in the library; `v` is the object, `o` the second one. */
#define OPERATION(name, ...) \
	static void name(void *object, void *other, const void *argument) \
	{ \
		struct vector *v = VECTOR(object), *o = VECTOR(other); \
\
		(void)v, (void)o, (void)argument; \
		__VA_ARGS__; \
	}

OPERATION(size, vector_size(v))
OPERATION(capacity, vector_capacity(v))
OPERATION(is_empty, vector_is_empty(v))
OPERATION(trim_to_size, vector_trim_to_size(v))
OPERATION(ensure_capacity, vector_ensure_capacity(v, 20))
OPERATION(set_size, vector_set_size(v, 2))
OPERATION(contains, vector_contains(v, 3))
OPERATION(index_of, vector_index_of(v, 3))
OPERATION(index_of_from, vector_index_of_from(v, 3, 1))
OPERATION(last_index_of, vector_last_index_of(v, 3))
OPERATION(last_index_of_from, vector_last_index_of_from(v, 3, 2))
OPERATION(get, long x; vector_get(v, 1, &x))
OPERATION(element_at, long x; vector_element_at(v, 1, &x))
OPERATION(first_element, long x; vector_first_element(v, &x))
OPERATION(last_element, long x; vector_last_element(v, &x))
OPERATION(set, vector_set(v, 1, 9))
OPERATION(set_element_at, vector_set_element_at(v, 9, 1))
OPERATION(remove_at, vector_remove_at(v, 0))
OPERATION(remove_element_at, vector_remove_element_at(v, 0))
OPERATION(insert_element_at, vector_insert_element_at(v, 9, 0))
OPERATION(add_at, vector_add_at(v, 0, 9))
OPERATION(remove_range, vector_remove_range(v, 0, 2))
OPERATION(add_element, vector_add_element(v, 9))
OPERATION(add, vector_add(v, 9))
OPERATION(remove_element, vector_remove_element(v, 2))
OPERATION(remove_, vector_remove(v, 2))
OPERATION(remove_all_elements, vector_remove_all_elements(v))
OPERATION(clear, vector_clear(v))
OPERATION(clone_, vector_delete(vector_clone(v)))
OPERATION(to_array, int n; free(vector_to_array(v, &n)))
OPERATION(to_array_in, long a[4]; long *made = vector_to_array_in(v, a, 4); if (made != a) free(made))
OPERATION(copy_into, long a[4]; vector_copy_into(v, a, 4))
OPERATION(contains_all, vector_contains_all(v, o))
OPERATION(add_all, vector_add_all(v, o))
OPERATION(add_all_at, vector_add_all_at(v, 1, o))
OPERATION(remove_all, vector_remove_all(v, o))
OPERATION(retain_all, vector_retain_all(v, o))
OPERATION(equals, vector_equals(v, o))
OPERATION(hash_code, vector_hash_code(v))
OPERATION(to_string, free(vector_to_string(v)))

#define ALONE(name) {#name, name, NULL, 0}
#define OTHER(name) {#name, name, NULL, FISSION_OTHER}

#define VECTOR_OPERATIONS \
	ALONE(size), ALONE(capacity), ALONE(is_empty), ALONE(trim_to_size), ALONE(ensure_capacity), ALONE(set_size), \
	ALONE(contains), ALONE(index_of), ALONE(index_of_from), ALONE(last_index_of), ALONE(last_index_of_from), ALONE(get), \
	ALONE(element_at), ALONE(first_element), ALONE(last_element), ALONE(set), ALONE(set_element_at), ALONE(remove_at), \
	ALONE(remove_element_at), ALONE(insert_element_at), ALONE(add_at), ALONE(remove_range), ALONE(add_element), \
	ALONE(add), ALONE(remove_element), {"remove", remove_, NULL, 0}, ALONE(remove_all_elements), ALONE(clear), \
	{"clone", clone_, NULL, 0}, ALONE(to_array), ALONE(to_array_in), ALONE(copy_into), OTHER(contains_all), \
	OTHER(add_all), OTHER(add_all_at), OTHER(remove_all), OTHER(retain_all), OTHER(equals), ALONE(hash_code), \
	ALONE(to_string)

#endif
