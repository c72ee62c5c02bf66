/* SPDX-License-Identifier: MIT */
/*
 * 1v-blocks, kept and compared (Wang and Stoller, Theorem 3).
 *
 * Two 1v-blocks are compared by the two operations of one, with what is held all the way between them, and a single
 * operation of the other, with what is held at it. So these are kept, for each variable: *spans* (op1, op2,
 * held(e1,e2), block, periods) and *points* (op, held, periods), each once, for all threads together. The dummy event
 * of a lone access is not needed.
 *
 * Of two that differ in what is held, the one that holds less stands for both if it was seen in the same periods: what
 * the one lets in, the other does. Where otherwise equal spans or points have more than HELD_MOST sets of locks, what
 * these have in common counts for those that are new, and may let in too much.
 * Cost: one look-up an access and a few comparisons if nothing is new; at the end spans times points for each variable
 * that is not protected by one lock. Memory: linear in the distinct spans and points.
 */
#ifndef FISSION_CHECK_BLOCKS_SPANS_H
#define FISSION_CHECK_BLOCKS_SPANS_H

#include "check/blocks.h"

enum { HELD_MOST = 8 };

/* A read that is no initial one of its transaction is no point: it sees the transaction's own write. */
enum point_op { POINT_READ, POINT_WRITE, POINT_FINAL };

/* By the operations of both ends. */
enum span_ops { SPAN_RR, SPAN_RW, SPAN_WR, SPAN_WW };

/* A span as it is seen: from one access of a block to another. */
struct stretch {
	const struct end *first, *second;
	enum span_ops ops;
	guard_id held; /* all the way */
	struct block block;
};

struct spans *spans_new(struct arena *a);

void spans_point(struct blocks *b, uint64_t x, enum point_op op, const struct end *end);
void spans_stretch(struct blocks *b, uint64_t x, const struct stretch *s);

/* A period of some line has ended. */
void spans_new_period(struct blocks *b);

/* Lines that may have something to tell about the variable: bits for the caller, cleared for a new variable. */
uint64_t *spans_lines(struct blocks *b, uint64_t x);

/* What every access to the variable holds. */
guard_id spans_protection(struct blocks *b, uint64_t x);

/* Reports what can be split; all variables, at the end. */
void spans_compare(struct blocks *b);

/* The variable begins a new life: compares what is there and forgets it. */
void spans_forget(struct blocks *b, uint64_t x);

/* Variable y has the same past as x. */
void spans_copy(struct blocks *b, uint64_t x, uint64_t y);

#endif
