/* SPDX-License-Identifier: MIT */
#include "escape.h"

#include "base/arena.h"
#include "base/hash.h"

enum { POINTER = 8 };

struct allocation {
	uint64_t first, last; /* its bytes */
	uint64_t life;        /* tells it from others that have had its number */
	uint32_t line;
	uint32_t left, right;        /* in the treap */
	uint32_t previous, next;     /* in the line's list; `next` also among the spare ones */
	uint32_t pointers;           /* the first of those stored in it */
	bool unknown;                /* it may hold any pointer of its line */
};

/* A pointer that lies in an unescaped allocation. */
struct pointer {
	uint64_t at, value, life; /* of the allocation that it lies in */
	uint32_t next;
};

struct escape_line {
	uint32_t first;        /* of its allocations */
	bool freed_pointers;   /* its last event here was a free of memory that held pointers */
	uint32_t found;        /* the last answer: this allocation, or none */
	uint64_t since;        /* as of that many changes: */
	uint64_t from, to;     /* all of these bytes belong to it, or to none */
};

void escape_init(struct escape *s, struct arena *a)
{
	*s = (struct escape){.arena = a, .changes = 1};
	seg_init(&s->allocation, a, sizeof(struct allocation));
	seg_init(&s->pointer, a, sizeof(struct pointer));
	seg_init(&s->line, a, sizeof(struct escape_line));
	map_init(&s->by_address, a);
}

static struct allocation *at(struct escape *s, uint32_t i)
{
	return seg_at(&s->allocation, i, sizeof(struct allocation));
}

static struct pointer *pointer_at(struct escape *s, uint32_t i)
{
	return seg_at(&s->pointer, i, sizeof(struct pointer));
}

static struct escape_line *line_of(struct escape *s, uint32_t line)
{
	return seg_at(&s->line, line, sizeof(struct escape_line));
}

/* The last of n bytes from `first` on; memory ends at the largest address. */
static uint64_t last_byte(uint64_t first, uint64_t n)
{
	if (n == 0)
		return first;
	return n - 1 > UINT64_MAX - first ? UINT64_MAX : first + n - 1;
}

/* The treap: by address, and as a heap by the hash of the allocation's life, whatever the addresses are. */

static bool is_above(struct escape *s, uint32_t a, uint32_t b)
{
	return hash_word(at(s, a)->life) > hash_word(at(s, b)->life);
}

/* Both as one; everything in a comes before everything in b. */
static uint32_t merge(struct escape *s, uint32_t a, uint32_t b)
{
	if (!a || !b)
		return a ? a : b;
	if (is_above(s, a, b)) {
		at(s, a)->right = merge(s, at(s, a)->right, b);
		return a;
	}
	at(s, b)->left = merge(s, a, at(s, b)->left);
	return b;
}

/* What starts before the address, and the rest. */
static void split(struct escape *s, uint32_t tree, uint64_t address, uint32_t *before, uint32_t *rest)
{
	if (!tree) {
		*before = *rest = 0;
	} else if (at(s, tree)->first < address) {
		split(s, at(s, tree)->right, address, &at(s, tree)->right, rest);
		*before = tree;
	} else {
		split(s, at(s, tree)->left, address, before, &at(s, tree)->left);
		*rest = tree;
	}
}

static void tree_add(struct escape *s, uint32_t i)
{
	uint32_t before, rest;

	split(s, s->root, at(s, i)->first, &before, &rest);
	s->root = merge(s, merge(s, before, i), rest);
	s->changes++;
}

static void tree_remove(struct escape *s, uint32_t i)
{
	uint32_t *link = &s->root;

	while (*link != i)
		link = at(s, i)->first < at(s, *link)->first ? &at(s, *link)->left : &at(s, *link)->right;
	*link = merge(s, at(s, i)->left, at(s, i)->right);
	s->changes++;
}

/* The first allocation that has bytes from the address on, or 0; `*gap` is where what is before it ends. */
static uint32_t tree_from(struct escape *s, uint64_t address, uint64_t *gap)
{
	uint32_t found = 0;

	*gap = 0;
	for (uint32_t i = s->root; i;) {
		const struct allocation *a = at(s, i);

		if (a->last < address) {
			*gap = a->last + 1;
			i = a->right;
		} else {
			found = i;
			i = a->left;
		}
	}
	return found;
}

/* The allocation that has the byte, or 0. */
static uint32_t holder(struct escape *s, uint64_t address)
{
	uint64_t gap;
	uint32_t i = tree_from(s, address, &gap);

	return i && at(s, i)->first <= address ? i : 0;
}

/* Lives. */

static void forget_pointers(struct escape *s, struct allocation *a)
{
	while (a->pointers) {
		struct pointer *p = pointer_at(s, a->pointers);
		uint32_t next = p->next;

		p->life = 0;
		p->next = s->spare_pointer;
		s->spare_pointer = a->pointers;
		a->pointers = next;
	}
}

/* It is no longer among the unescaped ones; its pointers are still there. */
static void take_out(struct escape *s, uint32_t i)
{
	struct allocation *a = at(s, i);

	tree_remove(s, i);
	if (a->previous)
		at(s, a->previous)->next = a->next;
	else
		line_of(s, a->line)->first = a->next;
	if (a->next)
		at(s, a->next)->previous = a->previous;
}

static void drop(struct escape *s, uint32_t i)
{
	forget_pointers(s, at(s, i));
	at(s, i)->next = s->spare_allocation;
	s->spare_allocation = i;
}

static void begin(struct escape *s, const struct event *e, uint64_t last)
{
	struct escape_line *l = line_of(s, e->line);
	uint32_t i = s->spare_allocation;

	if (i)
		s->spare_allocation = at(s, i)->next;
	else
		i = ++s->allocations;
	*at(s, i) = (struct allocation){.first = e->object, .last = last, .life = s->changes, .line = e->line,
		.next = l->first, .unknown = l->freed_pointers};
	if (l->first)
		at(s, l->first)->previous = i;
	l->first = i;
	tree_add(s, i);
}

/* Escaping. */

static void let_out(struct escape *s, uint32_t i)
{
	take_out(s, i);
	s->pending = arena_reserve(s->arena, s->pending, &s->pending_capacity, s->pending_count, sizeof *s->pending);
	s->pending[s->pending_count++] = i;
}

static void let_out_line(struct escape *s, uint32_t line)
{
	while (line_of(s, line)->first)
		let_out(s, line_of(s, line)->first);
}

/* What the escaped ones point to escapes with them, and so on: each allocation once. */
static void cascade(struct escape *s)
{
	while (s->pending_count) {
		uint32_t i = s->pending[--s->pending_count];

		if (at(s, i)->unknown)
			let_out_line(s, at(s, i)->line);
		for (uint32_t p = at(s, i)->pointers; p; p = pointer_at(s, p)->next) {
			uint32_t to = holder(s, pointer_at(s, p)->value);

			if (to)
				let_out(s, to);
		}
		drop(s, i);
	}
}

static void escapes(struct escape *s, uint32_t i)
{
	if (i)
		let_out(s, i);
	cascade(s);
}

static void line_escapes(struct escape *s, uint32_t line)
{
	let_out_line(s, line);
	cascade(s);
}

/* Whatever has bytes in the range escapes, but the line's own if that is not to. */
static void range_escapes(struct escape *s, uint64_t first, uint64_t last, uint32_t own)
{
	uint64_t gap;
	uint32_t i;

	while ((i = tree_from(s, first, &gap)) && at(s, i)->first <= last) {
		if (at(s, i)->line != own)
			escapes(s, i);
		else if (at(s, i)->last >= last)
			return;
		else
			first = at(s, i)->last + 1;
	}
}

void escape_alloc(struct escape *s, const struct event *e)
{
	uint64_t last = last_byte(e->object, e->count);

	if (e->flags & EVENT_ADDRESSED && e->count) {
		range_escapes(s, e->object, last, 0);
		begin(s, e, last);
	}
	line_of(s, e->line)->freed_pointers = false;
}

void escape_free(struct escape *s, const struct event *e)
{
	uint32_t i = e->flags & EVENT_ADDRESSED ? holder(s, e->object) : 0;
	const struct allocation *a = at(s, i);
	struct escape_line *l = line_of(s, e->line);

	l->freed_pointers = i && (a->pointers || a->unknown);
	if (!i)
		return;
	if (a->line != e->line || a->first != e->object) {
		escapes(s, i);
	} else {
		take_out(s, i);
		drop(s, i);
	}
}

void escape_fork(struct escape *s, const struct event *e, uint32_t line)
{
	line_escapes(s, e->line);
	line_escapes(s, line);
}

/* Accesses. */

/* The allocation of the line that has all bytes of the range, or 0; what another line has there escapes. */
static uint32_t touch(struct escape *s, struct escape_line *l, const struct event *e, uint64_t last)
{
	uint64_t gap;
	uint32_t i;

	if (l->since == s->changes && e->object >= l->from && last <= l->to)
		return l->found;
	range_escapes(s, e->object, last, e->line);
	i = tree_from(s, e->object, &gap);
	l->since = s->changes;
	l->found = i && at(s, i)->first <= e->object ? i : 0;
	l->from = l->found ? at(s, i)->first : gap;
	l->to = l->found ? at(s, i)->last : i ? at(s, i)->first - 1 : UINT64_MAX;
	return last <= l->to ? l->found : 0;
}

/* The pointer that is remembered for this place in the allocation, or NULL. */
static struct pointer *pointer_in(struct escape *s, const struct allocation *a, uint64_t address)
{
	uint32_t p = a->pointers ? map_get(&s->by_address, address) : 0;

	return p && pointer_at(s, p)->life == a->life && pointer_at(s, p)->at == address ? pointer_at(s, p) : NULL;
}

static void pointer_new(struct escape *s, struct allocation *a, uint64_t address, uint64_t value)
{
	uint32_t i = s->spare_pointer;

	if (i)
		s->spare_pointer = pointer_at(s, i)->next;
	else
		i = ++s->pointers;
	*pointer_at(s, i) = (struct pointer){address, value, a->life, a->pointers};
	a->pointers = i;
	*map_put(&s->by_address, address) = i;
}

/* A value that leads nowhere takes the place of a pointer, but starts no record. */
static void store_inside(struct escape *s, struct allocation *a, const struct event *e)
{
	struct pointer *known = pointer_in(s, a, e->object);
	uint32_t to = holder(s, e->value);

	if (to && at(s, to)->line != e->line)
		escapes(s, to);
	else if (known)
		known->value = e->value;
	else if (to)
		pointer_new(s, a, e->object, e->value);
}

static bool holds_pointers(const struct event *e)
{
	return !event_is_read(e->kind) && (!(e->flags & EVENT_SIZED) || e->size >= POINTER);
}

static bool is_known(const struct event *e)
{
	return e->flags & EVENT_VALUED && e->kind != EVENT_ATOMIC_RMW && (!(e->flags & EVENT_SIZED) || e->size == POINTER);
}

static void store(struct escape *s, uint32_t inside, const struct event *e)
{
	if (inside && is_known(e))
		store_inside(s, at(s, inside), e);
	else if (inside)
		at(s, inside)->unknown = true;
	else if (is_known(e))
		escapes(s, holder(s, e->value));
	else
		line_escapes(s, e->line);
}

bool escape_access_slowly(struct escape *s, const struct event *e)
{
	struct escape_line *l = line_of(s, e->line);
	uint32_t inside = 0;

	l->freed_pointers = false;
	if (e->flags & EVENT_ADDRESSED)
		inside = touch(s, l, e, last_byte(e->object, e->flags & EVENT_SIZED ? e->size : 1));
	if (holds_pointers(e))
		store(s, inside, e);
	return inside && (l->since == s->changes || holder(s, e->object) == inside);
}
