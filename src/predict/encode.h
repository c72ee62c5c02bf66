/* SPDX-License-Identifier: MIT */
/*
 * Tier B: an order in which every kept read sees the value that it saw, by SAT.
 *
 * A variable says which of two nodes comes first; there is one for those pairs that something depends on and that the
 * saturated order leaves open, and it is true where the trace has them in that order. Clauses:
 *
 *   locks   of two sections that exclude each other, the one ends before the other begins, or the other way round.
 *   reads   a read sees one of the writes that have its value (or the one that it saw, where no value is known, and
 *           always if it is a read-modify-write): that write comes before it, and every other write of the location
 *           before that one or behind the read.
 *
 * That the order has no cycle is not encoded. Each answer is looked through for cycles, each of which becomes a clause,
 * until there is none; then any sorting of it is the plan.
 */
#ifndef FISSION_PREDICT_ENCODE_H
#define FISSION_PREDICT_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

struct closure;

enum { ENCODE_MOST = 1 << 20 }; /* clauses; more count as undecided */

/*
 * The closure is saturated, of an ideal of tier B, and gets the order's edges. `budget` is how many conflicts, and how
 * many answers with cycles, it may take; `undecided` is set if that, or the clauses, were too many.
 */
bool encode_solve(struct closure *c, uint32_t budget, uint32_t *steps, bool *undecided);

#endif
