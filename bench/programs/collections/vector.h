/* SPDX-License-Identifier: MIT */
/*
 * Vector of the JDK 1.4.2: an array that grows. Elements are numbers, which stand for references.
 *
 * What touches one vector is synchronized, as there. Not atomic is what asks another vector more than once:
 *
 *	vector_new_from       its size, then its elements (004 Figure 1)
 *	vector_contains_all   goes through it with an iterator: size, element, size, element, ...
 *	vector_remove_all     asks it for each of the own elements
 *	vector_retain_all     likewise
 *	vector_equals         goes through it with an iterator
 *
 * vector_add_all and vector_add_all_at ask once, for an array of all elements, and are atomic. Iterators read
 * mod_count without the lock, which is a data race, as in the original, and there "benign".
 *
 * Where the original throws an exception a function here returns VECTOR_BAD.
 */
#ifndef COLLECTIONS_VECTOR_H
#define COLLECTIONS_VECTOR_H

#include <stdbool.h>

#include "monitor.h"

enum { VECTOR_GOOD = 0, VECTOR_BAD = -1 };

struct vector {
	struct monitor monitor;
	int element_count;      /* guarded by the monitor */
	int capacity;           /* of element_data; guarded by the monitor */
	int capacity_increment; /* 0: twice as much each time; never changes */
	long *element_data;     /* guarded by the monitor */
	int mod_count;          /* how often its structure has changed; written under the monitor */
};

/* The list iterator that AbstractList has for its heirs: nothing of it is synchronized. */
struct vector_iterator {
	struct vector *vector;
	int cursor, last, expected;
};

struct vector *vector_new(void);
struct vector *vector_new_from(struct vector *other);
void vector_delete(struct vector *v);

/* For heirs: a vector inside of something else. */
void vector_init(struct vector *v, int capacity);
void vector_free(struct vector *v);

int vector_size(struct vector *v);
int vector_capacity(struct vector *v);
bool vector_is_empty(struct vector *v);
void vector_trim_to_size(struct vector *v);
void vector_ensure_capacity(struct vector *v, int least);
int vector_set_size(struct vector *v, int size);

bool vector_contains(struct vector *v, long element);
int vector_index_of(struct vector *v, long element); /* -1: it is not there */
int vector_index_of_from(struct vector *v, long element, int from);
int vector_last_index_of(struct vector *v, long element);
int vector_last_index_of_from(struct vector *v, long element, int from);

/* The element goes to `to`, unless the index is out of range. */
int vector_get(struct vector *v, int index, long *to);
int vector_element_at(struct vector *v, int index, long *to);
int vector_first_element(struct vector *v, long *to);
int vector_last_element(struct vector *v, long *to);

int vector_set(struct vector *v, int index, long element);
int vector_set_element_at(struct vector *v, long element, int index);
int vector_remove_at(struct vector *v, int index);
int vector_remove_element_at(struct vector *v, int index);
int vector_insert_element_at(struct vector *v, long element, int index);
int vector_add_at(struct vector *v, int index, long element);
int vector_remove_range(struct vector *v, int from, int to);
void vector_add_element(struct vector *v, long element);
bool vector_add(struct vector *v, long element);
bool vector_remove_element(struct vector *v, long element);
bool vector_remove(struct vector *v, long element);
void vector_remove_all_elements(struct vector *v);
void vector_clear(struct vector *v);

struct vector *vector_clone(struct vector *v);

/* All elements, in an array that the caller frees. */
long *vector_to_array(struct vector *v, int *length);

/*
 * All elements, in the array if it is long enough, and else in a new one, which is returned and which the caller
 * frees. An array that is too long is ended by a zero.
 */
long *vector_to_array_in(struct vector *v, long *array, int length);
int vector_copy_into(struct vector *v, long *array, int length);

/* With another vector: 1 yes, 0 no, VECTOR_BAD: it was changed meanwhile, and that was noticed. */
int vector_contains_all(struct vector *v, struct vector *other);
int vector_add_all(struct vector *v, struct vector *other);
int vector_add_all_at(struct vector *v, int index, struct vector *other);
int vector_remove_all(struct vector *v, struct vector *other);
int vector_retain_all(struct vector *v, struct vector *other);
int vector_equals(struct vector *v, struct vector *other);

int vector_hash_code(struct vector *v);
char *vector_to_string(struct vector *v); /* the caller frees it; NULL for an exception */

struct vector_iterator vector_iterator(struct vector *v);
bool vector_has_next(struct vector_iterator *i);
int vector_next(struct vector_iterator *i, long *to);
int vector_iterator_remove(struct vector_iterator *i);

#endif
