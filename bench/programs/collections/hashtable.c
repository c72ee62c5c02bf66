/* SPDX-License-Identifier: MIT */
#include "hashtable.h"

#include <stdio.h>
#include <stdlib.h>

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static struct hashtable_buckets *buckets_new(int length)
{
	struct hashtable_buckets *b = must(calloc(1, sizeof *b + (size_t)length * sizeof b->at[0]));

	b->length = length;
	return b;
}

struct hashtable *hashtable_new(int capacity)
{
	struct hashtable *t = must(calloc(1, sizeof *t));

	monitor_init(&t->monitor);
	if (capacity < 1)
		capacity = 1;
	t->table = buckets_new(capacity);
	t->threshold = capacity * 3 / 4;
	return t;
}

/* The size is only a guess by the time of the second call; what put_all does is worse. */
struct hashtable *hashtable_new_from(struct hashtable *other)
{
	int size = 2 * hashtable_size(other);
	struct hashtable *t = hashtable_new(size > 11 ? size : 11);

	hashtable_put_all(t, other);
	return t;
}

static void free_chain(struct hashtable_entry *e)
{
	while (e) {
		struct hashtable_entry *next = e->next;

		free(e);
		e = next;
	}
}

void hashtable_delete(struct hashtable *t)
{
	for (int i = 0; i < t->table->length; i++)
		free_chain(t->table->at[i]);
	for (struct hashtable_buckets *b = t->table, *next; b; b = next) {
		next = b->garbage;
		free(b);
	}
	for (struct hashtable_entry *e = t->garbage, *next; e; e = next) {
		next = e->garbage;
		free(e);
	}
	monitor_free(&t->monitor);
	free(t);
}

/* The monitor is held by the caller of each function up to the next comment. */

static struct hashtable_entry **bucket(const struct hashtable *t, long key)
{
	return &t->table->at[(unsigned long)key % (unsigned long)t->table->length];
}

static struct hashtable_entry *find(const struct hashtable *t, long key)
{
	struct hashtable_entry *e = *bucket(t, key);

	while (e && e->key != key)
		e = e->next;
	return e;
}

/* An iterator may stand at it, so it stays as it is. */
static void bury(struct hashtable *t, struct hashtable_entry *e)
{
	e->garbage = t->garbage;
	t->garbage = e;
}

static void add(struct hashtable *t, long key, long value)
{
	struct hashtable_entry *e = must(malloc(sizeof *e)), **to;

	if (t->count >= t->threshold)
		hashtable_rehash(t);
	to = bucket(t, key);
	*e = (struct hashtable_entry){key, value, *to, NULL};
	*to = e;
	t->count++;
}

static void set(long *to, long value)
{
	if (to)
		*to = value;
}

static bool has_value(const struct hashtable *t, long value)
{
	for (int i = 0; i < t->table->length; i++)
		for (const struct hashtable_entry *e = t->table->at[i]; e; e = e->next)
			if (e->value == value)
				return true;
	return false;
}

/* One table. */

int hashtable_size(struct hashtable *t)
{
	int count;

	monitor_enter(&t->monitor);
	count = t->count;
	monitor_exit(&t->monitor);
	return count;
}

bool hashtable_is_empty(struct hashtable *t)
{
	bool empty;

	monitor_enter(&t->monitor);
	empty = t->count == 0;
	monitor_exit(&t->monitor);
	return empty;
}

bool hashtable_contains(struct hashtable *t, long value)
{
	bool found;

	monitor_enter(&t->monitor);
	found = has_value(t, value);
	monitor_exit(&t->monitor);
	return found;
}

bool hashtable_contains_value(struct hashtable *t, long value)
{
	return hashtable_contains(t, value);
}

bool hashtable_contains_key(struct hashtable *t, long key)
{
	bool found;

	monitor_enter(&t->monitor);
	found = find(t, key) != NULL;
	monitor_exit(&t->monitor);
	return found;
}

bool hashtable_get(struct hashtable *t, long key, long *to)
{
	const struct hashtable_entry *e;

	monitor_enter(&t->monitor);
	e = find(t, key);
	if (e)
		set(to, e->value);
	monitor_exit(&t->monitor);
	return e != NULL;
}

void hashtable_rehash(struct hashtable *t)
{
	struct hashtable_buckets *old, *table;

	monitor_enter(&t->monitor);
	old = t->table;
	table = buckets_new(old->length * 2 + 1);
	table->garbage = old;
	t->mod_count++;
	t->threshold = table->length * 3 / 4;
	t->table = table;
	for (int i = old->length; i-- > 0;)
		for (struct hashtable_entry *e = old->at[i], *next; e; e = next) {
			struct hashtable_entry **to = bucket(t, e->key);

			next = e->next;
			e->next = *to;
			*to = e;
		}
	monitor_exit(&t->monitor);
}

bool hashtable_put(struct hashtable *t, long key, long value, long *to)
{
	struct hashtable_entry *e;

	monitor_enter(&t->monitor);
	e = find(t, key);
	if (e) {
		set(to, e->value);
		e->value = value;
	} else {
		t->mod_count++;
		add(t, key, value);
	}
	monitor_exit(&t->monitor);
	return e != NULL;
}

bool hashtable_remove(struct hashtable *t, long key, long *to)
{
	struct hashtable_entry **at, *e;

	monitor_enter(&t->monitor);
	for (at = bucket(t, key); *at && (*at)->key != key;)
		at = &(*at)->next;
	e = *at;
	if (e) {
		t->mod_count++;
		*at = e->next;
		t->count--;
		set(to, e->value);
		bury(t, e);
	}
	monitor_exit(&t->monitor);
	return e != NULL;
}

void hashtable_clear(struct hashtable *t)
{
	monitor_enter(&t->monitor);
	t->mod_count++;
	for (int i = t->table->length; i-- > 0;) {
		for (struct hashtable_entry *e = t->table->at[i]; e; e = e->next)
			bury(t, e);
		t->table->at[i] = NULL;
	}
	t->count = 0;
	monitor_exit(&t->monitor);
}

struct hashtable *hashtable_clone(struct hashtable *t)
{
	struct hashtable *copy;

	monitor_enter(&t->monitor);
	copy = hashtable_new(t->table->length);
	for (int i = t->table->length; i-- > 0;)
		for (const struct hashtable_entry *e = t->table->at[i]; e; e = e->next)
			add(copy, e->key, e->value);
	monitor_exit(&t->monitor);
	return copy;
}

/* Views and iterators: nothing of them is synchronized. */

static struct hashtable_view *view(struct hashtable *t, enum hashtable_view_kind kind)
{
	if (!t->view[kind]) {
		t->views[kind] = (struct hashtable_view){t, kind};
		t->view[kind] = &t->views[kind];
	}
	return t->view[kind];
}

struct hashtable_view *hashtable_key_set(struct hashtable *t)
{
	return view(t, VIEW_KEYS);
}

struct hashtable_view *hashtable_entry_set(struct hashtable *t)
{
	return view(t, VIEW_ENTRIES);
}

struct hashtable_view *hashtable_values(struct hashtable *t)
{
	return view(t, VIEW_VALUES);
}

struct hashtable_iterator hashtable_iterator(struct hashtable_view *v)
{
	struct hashtable_buckets *table = v->of->table;

	return (struct hashtable_iterator){v->of, table, table->length, v->of->mod_count, NULL};
}

bool hashtable_has_next(struct hashtable_iterator *i)
{
	while (!i->entry && i->index > 0)
		i->entry = i->table->at[--i->index];
	return i->entry != NULL;
}

int hashtable_next(struct hashtable_iterator *i, struct hashtable_entry **to)
{
	if (i->of->mod_count != i->expected || !hashtable_has_next(i))
		return HASHTABLE_BAD;
	*to = i->entry;
	i->entry = i->entry->next;
	return HASHTABLE_GOOD;
}

/* Two tables. */

/* The own monitor is held, the other's is not. */
static int put_each(struct hashtable *t, struct hashtable *other)
{
	struct hashtable_iterator i = hashtable_iterator(hashtable_entry_set(other));
	struct hashtable_entry *e;

	while (hashtable_has_next(&i)) {
		if (hashtable_next(&i, &e) != HASHTABLE_GOOD)
			return HASHTABLE_BAD;
		hashtable_put(t, e->key, e->value, NULL);
	}
	return 1;
}

static int equals_each(struct hashtable *t, struct hashtable *other)
{
	struct hashtable_iterator i;
	struct hashtable_entry *e;
	long value;

	if (hashtable_size(other) != hashtable_size(t))
		return 0;
	i = hashtable_iterator(hashtable_entry_set(t));
	while (hashtable_has_next(&i)) {
		if (hashtable_next(&i, &e) != HASHTABLE_GOOD)
			return HASHTABLE_BAD;
		if (!hashtable_get(other, e->key, &value) || value != e->value)
			return 0;
	}
	return 1;
}

int hashtable_put_all(struct hashtable *t, struct hashtable *other)
{
	int result;

	monitor_enter(&t->monitor);
	result = put_each(t, other);
	monitor_exit(&t->monitor);
	return result;
}

int hashtable_equals(struct hashtable *t, struct hashtable *other)
{
	int result;

	if (t == other)
		return 1;
	monitor_enter(&t->monitor);
	result = equals_each(t, other);
	monitor_exit(&t->monitor);
	return result;
}

int hashtable_hash_code(struct hashtable *t)
{
	unsigned code = 0;

	monitor_enter(&t->monitor);
	for (int i = 0; i < t->table->length; i++)
		for (const struct hashtable_entry *e = t->table->at[i]; e; e = e->next)
			code += (unsigned)(e->key ^ e->value);
	monitor_exit(&t->monitor);
	return (int)code;
}

char *hashtable_to_string(struct hashtable *t)
{
	char *text = NULL;
	size_t length;
	FILE *to = must(open_memstream(&text, &length));
	const char *between = "{";

	monitor_enter(&t->monitor);
	for (int i = t->table->length; i-- > 0;)
		for (const struct hashtable_entry *e = t->table->at[i]; e; e = e->next, between = ", ")
			fprintf(to, "%s%ld=%ld", between, e->key, e->value);
	fputs(t->count ? "}" : "{}", to);
	monitor_exit(&t->monitor);
	fclose(to);
	return text;
}
