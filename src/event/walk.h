/* SPDX-License-Identifier: MIT */
/*
 * The walk: what a program that was built with --symbolic did in one controlled run, record by record, in the order in
 * which it did it. The runtime writes it, the tool reads it: which branches were taken and why, as expressions over the
 * inputs, and what the untaken ones would have needed: arguments, values and addresses of the same activation.
 *
 * The file is as long as it may ever be and filled from the front: struct walk_head, then records, all of one size. One
 * thread runs at a time, so there is one writer at a time. A record is complete when its kind is not zero; what was
 * written is there even if the program was killed. When there is no room left, the last record is WALK_FULL.
 *
 * Places. A module is a translation unit: the rewriter numbers its instructions before it adds any (`ordinal`, from 1)
 * and puts the very bitcode that it numbered into the program's section WALK_SECTION. Ordinals mean that and nothing
 * else.
 *
 * Expressions are a DAG. `expr` names one; 0 is "a concrete value". An expression is defined before it is used, by
 * WALK_INPUT, WALK_CONST or WALK_NODE, once, and stays. Widths are bits, 1 to 64; a value's bits above its width are 0.
 *
 * The tool trusts nothing in it.
 */
#ifndef FISSION_EVENT_WALK_H
#define FISSION_EVENT_WALK_H

#include <stdint.h>

#define WALK_MAGIC "fsnwalk1"
#define WALK_SECTION ".fission.bc"   /* of the program; not loaded. Of each unit: struct walk_unit, then its bitcode */
#define WALK_VARIABLE "FISSION_WALK" /* the file's path, in the environment; not set: nothing is written */
#define WALK_GIVEN_VARIABLE "FISSION_INPUTS" /* likewise: inputs that the program is to have, see struct walk_given */

struct walk_head {
	char magic[8];
	uint64_t bytes; /* of the file */
};

struct walk_unit {
	char magic[8];
	uint64_t hash;     /* of the bitcode: which unit this is */
	uint64_t bytes;    /* of bitcode behind this; the next unit begins at the next multiple of 8 */
	uint64_t ordinals; /* instructions that were numbered */
};

enum walk_kind {
	WALK_NONE,
	WALK_FULL,
	WALK_MODULE,   /* `module` is the unit with hash a */
	WALK_INPUT,    /* expr is an input: a source and index, b place in it. See walk_source. Its value: see below */
	WALK_CONST,    /* expr is the value a */
	WALK_NODE,     /* expr is `ordinal`, an enum walk_op, of the expressions a, b and `module` (a third; else 0) */
	WALK_BRANCH,   /* a conditional branch: a 1 if its first successor was taken, else 0; expr its condition */
	WALK_SWITCH,   /* a switch: a the value, expr its expression */
	WALK_SELECT,   /* a select whose condition is symbolic: as WALK_BRANCH */
	WALK_CONCRETE, /* expr had the value a, and is concrete from here on; b an enum walk_lost */
	WALK_ADDRESS,  /* expr was used as an address, whose value a is kept: a condition expr == a */
	WALK_ENTER,    /* a function, by the ordinal of its first instruction; a its address */
	WALK_ARGUMENT, /* behind WALK_ENTER: argument number b is a */
	WALK_EXIT,
	WALK_LOAD,     /* of `width` bits at address a, value b */
	WALK_STORE,
	WALK_RESULT,   /* a call of a function that was not built so: its value a, expr as known by its model */
	WALK_BLOCK,    /* a join of branches is reached: its first instruction */
	WALK_EVENT,    /* what the runtime saw: `width` an enum event_kind but accesses and calls; a its object, b a second */
	WALK_NAME,     /* of the source and index a: the eight bytes of its name from `ordinal` on are b */
	WALK_CASE,     /* behind WALK_SWITCH, if its expression is not 0: a is a value that it has a case for */
	WALK_KINDS
};

struct walk_record {
	uint8_t kind;
	uint8_t width;
	uint16_t thread;  /* by creation, as in an order's steps */
	uint32_t ordinal; /* the instruction; 0 unknown */
	uint32_t module;
	uint32_t expr;
	uint64_t a, b;
};

_Static_assert(sizeof(struct walk_record) == 32, "half a cache line");

/*
 * Where an input comes from: the upper byte of a; below it the index: of argv, or of a name or path, which WALK_NAME
 * has told before. What the input was in this run stands in `ordinal`, the lower half, and `module`, the upper one.
 */
enum walk_source {
	WALK_STDIN,
	WALK_ARGV,
	WALK_ENV,
	WALK_FILE,
	WALK_NAMED, /* fission_input() */
	WALK_SOURCES
};

/*
 * Its place there, b: the lower 32 bits are an offset. The upper 32 bits are 0 for the one byte there (width 8), for
 * WALK_NAMED for `width` bits little-endian; else the length of the text there that a libc function has read as a
 * number: the expression is the number, and who changes it writes its digits over that text. The bytes under it are no
 * inputs then.
 */
static inline uint64_t walk_input_source(enum walk_source source, uint64_t index)
{
	return (uint64_t)source << 56 | index;
}

static inline uint64_t walk_input_place(uint32_t offset, uint32_t length)
{
	return (uint64_t)length << 32 | offset;
}

static inline uint64_t walk_input_value(const struct walk_record *r)
{
	return (uint64_t)r->module << 32 | r->ordinal;
}

/*
 * What the program is to find where it would find something else: one behind the other, the name, the value and a NUL
 * behind each. Of WALK_NAMED the value is the variable's bytes; of WALK_FILE the path of the file that is opened
 * instead.
 */
struct walk_given {
	uint32_t source, name, value; /* how long they are */
};

/* As LLVM's instructions of these names. ZEXT, SEXT and TRUNC go to the node's width. CONCAT: a above b. */
enum walk_op {
	WALK_ADD, WALK_SUB, WALK_MUL, WALK_UDIV, WALK_SDIV, WALK_UREM, WALK_SREM,
	WALK_AND, WALK_OR, WALK_XOR, WALK_SHL, WALK_LSHR, WALK_ASHR,
	WALK_EQ, WALK_NE, WALK_UGT, WALK_UGE, WALK_ULT, WALK_ULE, WALK_SGT, WALK_SGE, WALK_SLT, WALK_SLE,
	WALK_ZEXT, WALK_SEXT, WALK_TRUNC,
	WALK_CONCAT,
	WALK_BYTE,  /* a's byte number b, from the lowest; b is a number, not an expression */
	WALK_CHOOSE, /* a ? b : third */
	WALK_OPS
};

/* Why a value was made concrete. */
enum walk_lost {
	WALK_LOST_FLOAT,
	WALK_LOST_VECTOR,
	WALK_LOST_ASSEMBLY,
	WALK_LOST_CALL,  /* of a function that has no model */
	WALK_LOST_WIDTH, /* wider than 64 bits */
	WALK_LOST_POINTER,
	WALK_LOST_ROOM,
	WALK_LOST_REASONS
};

#endif
