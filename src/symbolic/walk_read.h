/* SPDX-License-Identifier: MIT */
/*
 * A walk, read: the expressions as a table by number, the inputs, and the conditions that the run has met, in its
 * order. What makes no sense is left out and counted: an expression that is cut, of a wrong width, or of parts that
 * are not there is none, and what was built on it was concrete. So whatever the file holds, every number in the tables
 * is of something that is there and was defined before whoever uses it. Costs the file's length.
 */
#ifndef FISSION_SYMBOLIC_WALK_READ_H
#define FISSION_SYMBOLIC_WALK_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/map.h"
#include "event/walk.h"
#include "event/walk_value.h"

struct arena;
struct fault;

/* An expression. */
struct walk_node {
	uint8_t kind;  /* WALK_INPUT, WALK_CONST, WALK_NODE; 0: there is none */
	uint8_t width;
	uint8_t op;
	uint32_t a, b, c; /* expressions; of WALK_INPUT, a is the number of the input */
	uint64_t value;   /* that it had in the run: also what it comes to if it is worked out */
	uint64_t hash;    /* the same in every walk for what is the same */
};

struct walk_input {
	uint32_t expr;  /* the first one that is this input */
	uint8_t width;
	enum walk_source source;
	uint64_t index; /* of argv; else of the run's own */
	struct text name; /* where it has one */
	uint32_t offset, length; /* length: of a number's text; 0: the bytes themselves */
	uint64_t value;
	uint64_t hash;  /* the same in every walk */
};

/* What held, and made the run go where it went. */
struct walk_condition {
	uint32_t record; /* where it stands in the file */
	uint32_t expr;
	uint64_t value;  /* that the expression had */
	uint16_t thread;
	uint32_t cases;  /* of WALK_SWITCH: so many records behind it are WALK_CASE */
	uint8_t kind;    /* WALK_BRANCH, WALK_SELECT, WALK_SWITCH, WALK_CONCRETE, WALK_ADDRESS */
	uint32_t ordinal;
	uint64_t module; /* the unit's hash */
};

struct walk {
	struct arena *arena;
	const struct walk_record *record; /* the file's own, as long as it is open */
	size_t records;
	struct walk_node *node; /* by expression; [0] is none */
	uint32_t nodes;
	uint32_t *defined;      /* expressions in the order in which they came: parts before what has them */
	size_t definitions;
	struct walk_input *input;
	size_t inputs, input_room;
	struct walk_condition *condition;
	size_t conditions, condition_room;
	struct map units;       /* number of a module to that of its hash in unit */
	uint64_t *unit;
	size_t unit_count, unit_room;
	struct map place;       /* hash of an input's place to its number + 1 */
	struct map name;        /* of a source and index to its number in names + 1 */
	char **names;
	size_t name_count, name_room;
	bool full;              /* the file had no more room */
	uint64_t wrong;         /* records that make no sense, or whose value is not what the expression comes to */
	uint64_t lost[WALK_LOST_REASONS];
	void *map;
	size_t bytes;
};

/* False with a fault if the file cannot be read or is no walk. An empty file is a walk in which nothing happened. */
bool walk_read(struct walk *w, struct arena *a, int fd, struct fault *fault);
void walk_close(struct walk *w);

/* The bits of a value of that width. */
static inline uint64_t walk_bits(uint64_t value, unsigned width)
{
	return value & walk_mask(width);
}

/* Whether the condition is a decision, which can be made otherwise. */
static inline bool walk_decides(const struct walk_condition *c)
{
	return c->kind == WALK_BRANCH || c->kind == WALK_SELECT || c->kind == WALK_SWITCH;
}

#endif
