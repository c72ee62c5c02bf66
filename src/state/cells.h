/* SPDX-License-Identifier: MIT */
/*
 * Memory as variables: accesses that overlap share a variable, accesses that do not never do.
 *
 * A named object is a variable. Addressed memory is divided into cells: sets of bytes within one 64-byte line that
 * no access so far has told apart. An access to a part of a cell divides it, and the new part starts with a copy
 * of the old one's state (`split`); bytes that were never touched make a new cell.
 *
 * Representation: a map from page number to the numbers of the page's lines, whose records have the variable of each
 * word of four bytes. Only in lines with a word of several variables, which are few, the bytes of such words have theirs.
 * Each variable has the mask of its bytes.
 * Invariant: the bytes of a variable's mask, and no others, name it.
 * Cost: a look at the hint or a map look-up, and a comparison, if the access is to one whole cell; otherwise linear in
 * its bytes. 80 bytes a line that was touched, 336 if it has a word of several variables; 300 a page.
 */
#ifndef FISSION_STATE_CELLS_H
#define FISSION_STATE_CELLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/seg.h"
#include "event/event.h"

enum { CELL_LINE = 64, CELL_WORD = 4, CELL_PAGE = 64 }; /* bytes, bytes, lines */

#define CELL_MIXED UINT32_MAX

/* A line: for each word its variable + 1, 0 if it was never touched, CELL_MIXED if its bytes are not all the same. */
struct cell_line {
	uint32_t word[CELL_LINE / CELL_WORD];
	uint32_t *byte;   /* likewise for each byte of words that are mixed; NULL: there were none */
	uint64_t touched; /* which bytes have one */
};

/* The numbers of a page's lines, from 1; 0: it was never touched. */
struct cell_page {
	uint32_t line[CELL_PAGE];
};

/* A variable: a name, or bytes of a line. */
struct cell_origin {
	uint64_t object; /* the name's id, or the line's address */
	uint64_t mask;   /* 0 for a name */
};

/* What the owner is told; a variable is touched only after the splits that the access makes in its line. */
struct cells_listener {
	void *self;
	void (*split)(void *self, uint64_t x, uint64_t y);
	void (*forget)(void *self, uint64_t x);
	void (*touch)(void *self, uint64_t x);
};

enum { CELL_HINTS = 1 << 14 };

/* A line that was looked up lately. */
struct cell_hint {
	uint64_t line;
	struct cell_line *at;
};

struct cells {
	struct arena *arena;
	struct seg named; /* uint64_t by object id: variable + 1, 0 for none yet */
	struct map pages; /* line / CELL_PAGE to the number of its record, from 1 */
	struct seg page;  /* struct cell_page */
	struct seg line;  /* struct cell_line */
	uint32_t line_count;
	struct cell_hint *hint; /* CELL_HINTS of them, by line */
	struct seg origin; /* by variable: where it is */
	uint64_t variables;
	struct cells_listener to;
};

#define CELLS_NONE UINT64_MAX

/* The variable of a byte + 1, or 0. */
static inline uint32_t cell_at(const struct cell_line *l, uint64_t byte)
{
	uint32_t x = l->word[byte / CELL_WORD];

	return __builtin_expect(x != CELL_MIXED, 1) ? x : l->byte[byte];
}

void cells_init(struct cells *c, struct arena *a, struct cells_listener to);

/* Tells the listener which variables the access touches. */
void cells_access(struct cells *c, const struct event *e);

/* The record of the line if it was looked up lately, or NULL. */
static inline struct cell_line *cells_hint(const struct cells *c, uint64_t line)
{
	const struct cell_hint *hint = &c->hint[line % CELL_HINTS];

	return __builtin_expect(hint->line == line, 1) ? hint->at : NULL;
}

/* The variable of an addressed access if its bytes are just those of one, in a line that was looked up lately. */
static inline uint64_t cells_whole(const struct cells *c, const struct event *e)
{
	const struct cell_line *l = cells_hint(c, e->object / CELL_LINE);
	uint64_t byte = e->object % CELL_LINE, size = e->flags & EVENT_SIZED ? e->size : 1, x;
	const struct cell_origin *o;

	if (!l || !size || byte + size > CELL_LINE || !(x = cell_at(l, byte)))
		return CELLS_NONE;
	x--;
	o = seg_hint(&c->origin, x, sizeof *o);
	return o->mask == ~(uint64_t)0 >> (CELL_LINE - size) << byte ? x : CELLS_NONE;
}

/* The bytes of this alloc begin a new life: tells the listener what to forget. */
void cells_alloc(struct cells *c, const struct event *e);

/* Slow path of cells_named: a new variable. */
__attribute__((noinline)) uint64_t cells_named_new(struct cells *c, uint64_t object);

/* The variable that a named access touches: the whole answer in nearly all text traces. */
static inline uint64_t cells_named(struct cells *c, uint64_t object)
{
	uint64_t x = *(uint64_t *)seg_at(&c->named, object, sizeof x);

	return x ? x - 1 : cells_named_new(c, object);
}

/* The record of a line, or NULL. Programs stay in a line for a while: the last ones are kept at hand. */
struct cell_line *cells_find(struct cells *c, uint64_t line);

/*
 * Fetching ahead, in three steps with a few events between them: where the line is to be looked up, the line's record,
 * the variable. Each brings in what the next one and the access itself will ask for.
 */
static inline __attribute__((always_inline)) void cells_fetch_hint(const struct cells *c, uint64_t address)
{
	__builtin_prefetch(&c->hint[address / CELL_LINE % CELL_HINTS]);
}

static inline __attribute__((always_inline)) void cells_fetch_line(struct cells *c, uint64_t address)
{
	const struct cell_line *l = cells_hint(c, address / CELL_LINE);

	if (!l)
		l = cells_find(c, address / CELL_LINE);
	if (l)
		__builtin_prefetch(&l->word[address % CELL_LINE / CELL_WORD]);
}

/* The variable of the byte, or CELLS_NONE. */
static inline __attribute__((always_inline)) uint64_t cells_fetch_variable(struct cells *c, uint64_t address)
{
	const struct cell_line *l = cells_hint(c, address / CELL_LINE);
	uint32_t x = l ? cell_at(l, address % CELL_LINE) : 0;

	if (!x)
		return CELLS_NONE;
	__builtin_prefetch(seg_hint(&c->origin, x - 1, sizeof(struct cell_origin)));
	return x - 1;
}

/* Fills in object, flags and size as an access to the variable would have them. */
void cells_name(const struct cells *c, uint64_t x, struct event *e);

#endif
