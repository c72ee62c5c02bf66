/* SPDX-License-Identifier: MIT */
/*
 * Hashtable of the JDK 1.4.2: from keys to values, in chains. Both are numbers, which stand for references.
 *
 * What touches one table is synchronized, as there, but for its views and their iterators. Not atomic is what asks
 * another table more than once:
 *
 *	hashtable_new_from   its size, then its entries, by an iterator
 *	hashtable_put_all    its entries, by an iterator, without its lock
 *	hashtable_equals     its size, then the value of each of the own keys
 *
 * and, within one table, hashtable_key_set, hashtable_entry_set and hashtable_values, which make a view when there is
 * none, without the lock. Iterators read `table`, its chains and mod_count without the lock. These are data races, as
 * in the original, and there "benign": nobody there gives memory back while someone has it. So nobody does here: what
 * is removed stays in `garbage` until the table is deleted.
 *
 * Where the original throws an exception a function here returns HASHTABLE_BAD.
 */
#ifndef COLLECTIONS_HASHTABLE_H
#define COLLECTIONS_HASHTABLE_H

#include <stdbool.h>

#include "monitor.h"

enum { HASHTABLE_GOOD = 0, HASHTABLE_BAD = -1 };

struct hashtable_entry {
	long key, value;
	struct hashtable_entry *next;
	struct hashtable_entry *garbage; /* once it is removed: the one before it */
};

struct hashtable_buckets {
	struct hashtable_buckets *garbage; /* the one before it */
	int length;
	struct hashtable_entry *at[];
};

enum hashtable_view_kind { VIEW_KEYS, VIEW_ENTRIES, VIEW_VALUES, VIEWS };

/* A set that is the table, seen in another way. */
struct hashtable_view {
	struct hashtable *of;
	enum hashtable_view_kind kind;
};

struct hashtable {
	struct monitor monitor;
	struct hashtable_buckets *table;  /* written under the monitor */
	int count;                        /* guarded by the monitor */
	int threshold;                    /* it grows at that count; guarded by the monitor */
	int mod_count;                    /* how often its structure has changed; written under the monitor */
	struct hashtable_view *view[VIEWS]; /* NULL until someone asks; guarded by nothing */
	struct hashtable_view views[VIEWS];
	struct hashtable_entry *garbage;  /* guarded by the monitor */
};

struct hashtable_iterator {
	struct hashtable *of;
	struct hashtable_buckets *table;
	int index, expected;
	struct hashtable_entry *entry;
};

struct hashtable *hashtable_new(int capacity);
struct hashtable *hashtable_new_from(struct hashtable *other);
void hashtable_delete(struct hashtable *t);

int hashtable_size(struct hashtable *t);
bool hashtable_is_empty(struct hashtable *t);
bool hashtable_contains(struct hashtable *t, long value);
bool hashtable_contains_value(struct hashtable *t, long value);
bool hashtable_contains_key(struct hashtable *t, long key);

/* Whether there is such a key; its value, or the one that it had, goes to `to` if that is not NULL. */
bool hashtable_get(struct hashtable *t, long key, long *to);
bool hashtable_put(struct hashtable *t, long key, long value, long *to);
bool hashtable_remove(struct hashtable *t, long key, long *to);
void hashtable_clear(struct hashtable *t);
void hashtable_rehash(struct hashtable *t);
struct hashtable *hashtable_clone(struct hashtable *t);

/* With another table: 1 yes, 0 no, HASHTABLE_BAD: it was changed meanwhile, and that was noticed. */
int hashtable_put_all(struct hashtable *t, struct hashtable *other);
int hashtable_equals(struct hashtable *t, struct hashtable *other);

int hashtable_hash_code(struct hashtable *t);
char *hashtable_to_string(struct hashtable *t); /* the caller frees it */

struct hashtable_view *hashtable_key_set(struct hashtable *t);
struct hashtable_view *hashtable_entry_set(struct hashtable *t);
struct hashtable_view *hashtable_values(struct hashtable *t);

struct hashtable_iterator hashtable_iterator(struct hashtable_view *v);
bool hashtable_has_next(struct hashtable_iterator *i);
int hashtable_next(struct hashtable_iterator *i, struct hashtable_entry **to);

#endif
