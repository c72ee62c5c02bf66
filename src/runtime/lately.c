/* SPDX-License-Identifier: MIT */
#include "lately.h"

#include <stdbool.h>

#include "runtime/os.h"

enum { TABLE_BYTES = (1 << (ADDRESSES - LEAF_SHIFT)) * sizeof(char *), PAGE = 4096 };

char **lately_tables[RINGS_MOST];

/* A ring's leaves, newest first. An element has the last bytes of its leaf's mapping. */
struct leaf_list {
	struct leaf_list *next;
	char *leaf;
};

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
	for (const struct leaf_list *l = lists[ring]; l; l = l->next)
		os_discard(l->leaf, LATELY_NOTES);
}

char **lately_begin(uint32_t ring)
{
	if (lately_tables[ring])
		clear_marks(ring);
	else if (!is_limited())
		lately_tables[ring] = os_map(TABLE_BYTES, -1);
	return lately_tables[ring];
}

char *lately_leaf(struct self *s, uintptr_t address)
{
	struct leaf_list *l;
	char *leaf = lately_find(s->lately, address);

	if (leaf || is_full || !s->lately || address >> ADDRESSES)
		return leaf;
	leaf = os_map(LATELY_BYTES + PAGE, -1);
	if (!leaf) {
		is_full = true;
		return NULL;
	}
	l = (struct leaf_list *)(leaf + LATELY_BYTES);
	*l = (struct leaf_list){lists[ring_of_self(s)], leaf};
	lists[ring_of_self(s)] = l;
	__atomic_store_n(&s->lately[address >> LEAF_SHIFT], leaf, __ATOMIC_RELEASE);
	return leaf;
}

void lately_populate(struct self *s, uintptr_t address)
{
	char *leaf = lately_leaf(s, address);

	if (leaf)
		os_populate(lately_marks(leaf, address), WINDOW);
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
