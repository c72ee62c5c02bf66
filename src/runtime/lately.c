/* SPDX-License-Identifier: MIT */
#include "lately.h"

#include <stdbool.h>

#include "runtime/os.h"

enum {
	TABLE_BYTES = (1 << (ADDRESSES - LEAF_SHIFT)) * sizeof(char *),
	PAGE = 4096,
	MAPPED = (LATELY_BYTES + PAGE + OS_HUGE - 1) / OS_HUGE * OS_HUGE, /* a leaf, with its element of the list */
	WINDOW_BYTES = 1 << 16,
	WINDOWS = LATELY_BYTES / WINDOW_BYTES,
};

/* Where a mark is says those bits of its address that a look has in it. */
_Static_assert(!(LOOK_MORE & ~(uint64_t)(MARKS_NARROW & MARKS_16_OF & MARKS_8_OF)), "marks are of one address each");

char **lately_tables[RINGS_MOST];
union marks lately_nothing;

static struct marks_head *marks[RINGS_MOST];

/* A ring's leaves, newest first. An element lies behind its leaf. */
struct leaf_list {
	struct leaf_list *next;
	char *leaf;
	bool opened[WINDOWS];
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

char **lately_begin(uint32_t ring)
{
	if (!lately_tables[ring] && !is_limited())
		lately_tables[ring] = os_map(TABLE_BYTES, -1);
	return lately_tables[ring];
}

/* A table that is all zeros, but for its look, gets what it begins with. */
static void set_head(struct marks_head *m)
{
	if (m)
		lately_narrow(m, false);
}

static void forget(struct marks_head *m)
{
	os_discard(m, MARKS_BYTES);
	set_head(m);
}

struct marks_head *lately_marks_begin(uint32_t ring)
{
	if (marks[ring])
		forget(marks[ring]);
	else if (!is_limited())
		set_head(marks[ring] = os_map(MARKS_BYTES, -1));
	return marks[ring];
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
	leaf = os_map_huge(MAPPED);
	if (!leaf) {
		is_full = true;
		return NULL;
	}
	l = element_of(leaf);
	l->leaf = leaf;
	if (!__atomic_compare_exchange_n(&s->lately[address >> LEAF_SHIFT], &none, leaf, false, __ATOMIC_ACQ_REL,
			__ATOMIC_ACQUIRE)) {
		os_unmap(leaf, MAPPED);
		return none;
	}
	enlist(&lists[ring_of_self(s)], l);
	return leaf;
}

void lately_open_notes(char *leaf, uintptr_t address)
{
	size_t i = (size_t)((char *)lately_notes(leaf, address) - leaf) / WINDOW_BYTES;
	bool *opened = &element_of(leaf)->opened[i];

	if (*opened)
		return;
	*opened = true;
	if (i && opened[-1] && i + 1 < WINDOWS)
		os_grow(leaf + (i + 1) * WINDOW_BYTES);
	os_populate(leaf + i * WINDOW_BYTES, WINDOW_BYTES);
}

/* The upper bits of the look are used up: others follow, until there are none. */
void self_look_over(struct self *s)
{
	uint64_t more = (s->look & LOOK_MORE) + LOOK_MORE_STEP;

	if (more & ~LOOK_MORE && s->marks)
		forget(s->marks);
	s->look = LOOK_FIRST | (more & LOOK_MORE);
}

void lately_forked(void)
{
	for (uint32_t i = 0; i < RINGS_MOST; i++) {
		for (struct leaf_list *l = lists[i]; l; l = l->next) {
			os_discard_huge(l->leaf, LATELY_BYTES);
			for (unsigned k = 0; k < WINDOWS; k++)
				l->opened[k] = false;
		}
		if (marks[i])
			forget(marks[i]);
	}
}
