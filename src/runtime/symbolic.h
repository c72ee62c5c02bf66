/* SPDX-License-Identifier: MIT */
/*
 * Expressions over the inputs, beside the values of a program that was built with --symbolic and writes a walk.
 *
 * An expression is a number, 0 for "concrete"; it is defined in the walk when it is made, once. What it is made of is
 * in the walk alone; here is what is needed to make more: its width, and the value that it has in this run. Nodes that
 * were made before are found again (a cache, not a table: some are made twice).
 *
 * Values in registers carry their expression in variables that the rewriter has added. Values in memory carry it in a
 * shadow: of each byte, which expression it is a part of, and which of its bytes. A load of what was stored as a whole
 * gives the expression back; other loads put bytes together. Since code without shadows may write to memory, a load
 * believes the shadow only where the value of the expression is what is there: whatever else, the value is concrete.
 *
 * Arguments and results cross calls in a record of the thread, with the function that they are for or from, so that
 * those of functions without shadows are never taken for it.
 *
 * Models: a wrapper of a libc function does the real thing, then says what became of the expressions, if walk_on:
 * symbolic_argument(), symbolic_copy(), symbolic_set(), symbolic_clear() for memory, and symbolic_return() at the end,
 * with 0 too. A function without a model makes its arguments concrete, and is counted.
 *
 * Only the thread whose turn it is calls any of this: see gate.h. Failure: no more room, and everything is concrete.
 */
#ifndef FISSION_RUNTIME_SYMBOLIC_H
#define FISSION_RUNTIME_SYMBOLIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/walk.h"

typedef uint32_t expr_id; /* 0: concrete */

enum { SYMBOLIC_ARGUMENTS = 16 }; /* those behind are concrete */

/* A walk begins. False: there is no memory. */
bool symbolic_start(void);

/* What an input is; see event/walk.h. */
struct symbolic_source {
	enum walk_source source;
	uint64_t index;          /* below 2^56 */
	uint32_t offset, length; /* length 0: the byte there, or the named input's bits */
	unsigned width;
	uint64_t value;          /* in this run */
};

/* Makers. Values and widths follow from the operands, which are not 0, but of symbolic_binary(). */
expr_id symbolic_input(const struct symbolic_source *from);
expr_id symbolic_const(unsigned width, uint64_t value);
expr_id symbolic_node(enum walk_op op, unsigned width, const expr_id of[3]);
expr_id symbolic_cast(enum walk_op op, unsigned width, expr_id of); /* ZEXT, SEXT, TRUNC; 0 of 0 */
expr_id symbolic_byte(expr_id of, unsigned byte);

/* An operand: its expression, and where that is 0 its value. */
struct operand {
	expr_id expr;
	uint64_t value;
};

/* Of two operands of `width` bits; 0 if both are concrete. The result of a comparison has one bit. */
expr_id symbolic_binary(enum walk_op op, unsigned width, struct operand a, struct operand b);

unsigned symbolic_width(expr_id e);
uint64_t symbolic_value(expr_id e);

/* Memory. The expression of so many bytes (1 to 8) that hold `value`; 0: concrete. */
expr_id symbolic_load(const void *at, unsigned bytes, uint64_t value);
/* The bytes hold e, of as many bits, or nothing symbolic. */
void symbolic_set(const void *at, unsigned bytes, expr_id e);
void symbolic_clear(const void *at, size_t bytes);
/* As memmove. */
void symbolic_copy(const void *to, const void *from, size_t bytes);
/* Whether any byte there may be symbolic. */
bool symbolic_any(const void *at, size_t bytes);

/* A value is given up: e had that value, and is concrete from here on. `site` may be 0. */
void symbolic_lost(uint64_t site, expr_id e, enum walk_lost why);
/* Of all bytes there; their shadow is gone then. */
void symbolic_lost_memory(uint64_t site, const void *at, size_t bytes, enum walk_lost why);

/* Calls, by code from the rewriter: function is about to be called; argument number i is e. */
void symbolic_call(const void *function);
void symbolic_pass(unsigned i, expr_id e);
/* The function is entered: whether its caller has passed expressions. Then, for each, before any other call: */
bool symbolic_enter(const void *function);
expr_id symbolic_take(unsigned i);
/* It returns e; and that is what its caller gets, if that is who has returned: whether it is goes to `known`. */
void symbolic_return(const void *function, expr_id e);
expr_id symbolic_result(uint64_t site, const void *function, bool *known);
/* Of two values that are returned at once, the other one: before symbolic_return(), and behind symbolic_result(). */
void symbolic_second(expr_id e);
expr_id symbolic_second_result(const void *function);

/* For models: the expression of argument number i of the call of `function`, which is the model; 0: concrete. */
expr_id symbolic_argument(const void *function, unsigned i);

#endif
