/* SPDX-License-Identifier: MIT */
/*
 * The fast conditions: each is enough for a history not to be atomic, for any number of threads.
 *
 * P is the block that is split at x, e1 and e3 its accesses, Q the block of the access e2 of another thread between
 * them. The conditions C_WWR and C_RWR of 002 (Figure 5) are right and are one:
 *
 *   L       a read whose block's access to x right before it has another value.
 *
 * The other two are wrong as printed: C_WRW looks for sources of the value in two threads and forgets the value that
 * was there at first; C_RWW forgets that nobody needs to see what Q wrote. tests/traces/nonatomic has the runs that
 * show it. In their place:
 *
 *   C_WRW'  e2 reads v before Q writes x; v was not there at first, and no block but Q and the later ones of its thread
 *           leaves v in x. (Where a run explains its own values, some P has written v and then something else.)
 *   NB(Q,P) "Q cannot come before P": P reads u from x, Q leaves something else there, and every other block that
 *           leaves u comes after P in P's thread or before Q in Q's.
 *   OS(P,Q) "P is the only source": Q reads v from x, which was not there at first, and no block but P, Q and the later
 *           ones of Q's thread leaves v there.
 *   C_RWW'  P comes before Q, by NB(Q,P) or OS(P,Q) at x, and at some y, which may be x, one of
 *           each   Q comes before P, by NB(P,Q) or OS(Q,P): a lost update, and blocks that read of each other;
 *           later  a later block R of Q's thread reads g from y, not what Q left there; every block but P, Q, R that
 *                  leaves g is before Q or not before R in their thread, or before P in P's;
 *           final  what is left in y is f, not what Q left there, and every block but P and Q that leaves f is before Q
 *                  or before P in their threads. Of the three the only one that speaks of the final state.
 *
 * None of them needs the pattern to be right; the pattern says where to look. It is taken a little wider than in 002,
 * so that blocks that split each other at two variables are seen: two blocks of which neither was over when the other
 * began. What is not known may be any value: it fulfils no condition. Cost: for each use of a variable, the blocks that
 * are open at the same time and use it too; for each pattern, the blocks that leave one value in one variable. Ends
 * early, without an answer, when the budget is used up.
 */
#ifndef FISSION_PREDICT_NONATOMIC_FAST_H
#define FISSION_PREDICT_NONATOMIC_FAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/nonatomic.h"

struct history;

/* What was found: accesses that show it. */
struct fast {
	enum nonatomic_how how;
	uint32_t op[3];
	size_t ops;
};

/* Whether any condition holds; with `final` that of the final state too. */
bool fast_finds(const struct history *h, bool final, uint64_t budget, struct fast *to);

#endif
