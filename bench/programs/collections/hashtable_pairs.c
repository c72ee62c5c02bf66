/* SPDX-License-Identifier: MIT */
/* The methods of Hashtable, for `fission pairs`: 004 Figure 6. */
#include <fission/pairs.h>
#include <stdlib.h>

#include "hashtable.h"

/* Three entries, two of them in one chain, and room for no more: the next one makes it grow. */
static void *make(void)
{
	struct hashtable *t = hashtable_new(4);

	hashtable_put(t, 1, 10, NULL);
	hashtable_put(t, 2, 20, NULL);
	hashtable_put(t, 5, 50, NULL);
	return t;
}

static void drop(void *t)
{
	hashtable_delete(t);
}

/* One function an operation, which is named as in the library; `t` is the object, `other` the second one. */
#define OPERATION(name, ...) \
	static void name(void *t, void *other, const void *argument) \
	{ \
		(void)t, (void)other, (void)argument; \
		__VA_ARGS__; \
	}

OPERATION(new_from, hashtable_delete(hashtable_new_from(other)))
OPERATION(size, hashtable_size(t))
OPERATION(is_empty, hashtable_is_empty(t))
OPERATION(contains, hashtable_contains(t, 20))
OPERATION(contains_value, hashtable_contains_value(t, 50))
OPERATION(contains_key, hashtable_contains_key(t, 5))
OPERATION(get, long value; hashtable_get(t, 1, &value))
OPERATION(put, hashtable_put(t, 1, 11, NULL))
OPERATION(put_new, hashtable_put(t, 3, 30, NULL))
OPERATION(remove_, hashtable_remove(t, 2, NULL))
OPERATION(clear, hashtable_clear(t))
OPERATION(rehash, hashtable_rehash(t))
OPERATION(clone_, hashtable_delete(hashtable_clone(t)))
OPERATION(put_all, hashtable_put_all(t, other))
OPERATION(equals, hashtable_equals(t, other))
OPERATION(hash_code, hashtable_hash_code(t))
OPERATION(to_string, free(hashtable_to_string(t)))
OPERATION(key_set, hashtable_key_set(t))
OPERATION(entry_set, hashtable_entry_set(t))
OPERATION(values, hashtable_values(t))

#define ALONE(name) {#name, name, NULL, 0}
#define OTHER(name) {#name, name, NULL, FISSION_OTHER}

static const struct fission_operation operations[] = {
	OTHER(new_from), ALONE(size), ALONE(is_empty), ALONE(contains), ALONE(contains_value), ALONE(contains_key),
	ALONE(get), ALONE(put), ALONE(put_new), {"remove", remove_, NULL, 0}, ALONE(clear), ALONE(rehash),
	{"clone", clone_, NULL, 0}, OTHER(put_all), OTHER(equals), ALONE(hash_code), ALONE(to_string), ALONE(key_set),
	ALONE(entry_set), ALONE(values), {0},
};

FISSION_PAIRS("Hashtable", make, drop, operations)
