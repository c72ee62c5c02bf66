/* SPDX-License-Identifier: MIT */
#include "lately.h"

#include <stdbool.h>

#include "runtime/os.h"

enum {
	TABLE_BYTES = (1 << (ADDRESSES - LEAF_SHIFT)) * sizeof(char *),
	PAGE = 4096,
	WINDOW_BYTES = 1 << 16, /* of marks, or notes */
	MARK_WINDOWS = LATELY_NOTES / WINDOW_BYTES,
	NOTE_WINDOWS = (LATELY_BYTES - LATELY_NOTES) / WINDOW_BYTES,
};

char **lately_tables[RINGS_MOST];

/* A ring's leaves, newest first. An element has the last page of its leaf's mapping. */
struct leaf_list {
	struct leaf_list *next;
	char *leaf;
	bool marks[MARK_WINDOWS], notes[NOTE_WINDOWS]; /* windows that were opened */
};

_Static_assert(sizeof(struct leaf_list) <= PAGE, "an element is a page");

static struct leaf_list *lists[RINGS_MOST];
static bool is_full; /* there was no memory for a leaf: there will be none */

static bool is_limited(void)
{
	return ~os_space() != 0;
}

static uint32_t ring_of_self(const struct self *s)
{
	return (uint32_t)(s->now >> RING_SHIFT);
}

static void clear_marks(uint32_t ring)
{
	for (struct leaf_list *l = lists[ring]; l; l = l->next) {
		os_discard(l->leaf, LATELY_NOTES);
		for (unsigned i = 0; i < MARK_WINDOWS; i++)
			l->marks[i] = false;
	}
}

char **lately_begin(uint32_t ring)
{
	if (lately_tables[ring])
		clear_marks(ring);
	else if (!is_limited())
		lately_tables[ring] = os_map(TABLE_BYTES, -1);
	return lately_tables[ring];
}

static struct leaf_list *element_of(char *leaf)
{
	return (struct leaf_list *)(leaf + LATELY_BYTES);
}

/* A signal handler may do the same in between. */
static void enlist(struct leaf_list **list, struct leaf_list *l)
{
	l->next = __atomic_load_n(list, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(list, &l->next, l, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

char *lately_leaf(struct self *s, uintptr_t address)
{
	struct leaf_list *l;
	char *leaf = lately_find(s->lately, address), *none = NULL;

	if (leaf || is_full || !s->lately || address >> ADDRESSES)
		return leaf;
	leaf = os_map(LATELY_BYTES + PAGE, -1);
	if (!leaf) {
		is_full = true;
		return NULL;
	}
	l = element_of(leaf);
	l->leaf = leaf;
	if (!__atomic_compare_exchange_n(&s->lately[address >> LEAF_SHIFT], &none, leaf, false, __ATOMIC_ACQ_REL,
			__ATOMIC_ACQUIRE)) {
		os_unmap(leaf, LATELY_BYTES + PAGE);
		return none;
	}
	enlist(&lists[ring_of_self(s)], l);
	return leaf;
}

static void open_window(bool *opened, char *from)
{
	if (!*opened)
		os_populate(from, WINDOW_BYTES);
	*opened = true;
}

void lately_open_marks(char *leaf, uintptr_t address)
{
	size_t i = (size_t)((char *)lately_marks(leaf, address) - leaf) / WINDOW_BYTES;

	open_window(&element_of(leaf)->marks[i], leaf + i * WINDOW_BYTES);
}

void lately_open_notes(char *leaf, uintptr_t address)
{
	char *first = leaf + LATELY_NOTES;
	size_t i = (size_t)((char *)lately_notes(leaf, address) - first) / WINDOW_BYTES;

	open_window(&element_of(leaf)->notes[i], first + i * WINDOW_BYTES);
}

/* The last look was the last that there is. */
void self_look_over(struct self *s)
{
	if (s->lately)
		clear_marks(ring_of_self(s));
	s->look = LOOK_FIRST;
}

void lately_forked(void)
{
	for (uint32_t i = 0; i < RINGS_MOST; i++) {
		while (lists[i]) {
			char *leaf = lists[i]->leaf;

			lists[i] = lists[i]->next;
			os_unmap(leaf, LATELY_BYTES + PAGE);
		}
		if (lately_tables[i])
			os_unmap(lately_tables[i], TABLE_BYTES);
		lately_tables[i] = NULL;
	}
}
