/* SPDX-License-Identifier: MIT */
/*
 * What each line has done to each variable in its open blocks, and the 1v-blocks that follow (rules a and b).
 *
 * For a variable that a line has accessed since its outermost open block began: the last write, the last read, and the
 * first initial reads. An access is the second end of a pair with them; the innermost block that holds both is blamed.
 *   rule a   from the last write to a read or write; from the last read to a read, in blocks where no write is before
 *   rule b   from an initial read to a write. Of the initial reads of a block the first suffices: fewest locks are held
 *            all the way from there. And every write will do, not only the final one: what comes between the read and
 *            an earlier write also comes between the read and the final one
 * A write is final if it is the last of its outermost declared block, or else of its innermost block; that is known
 * when the next write comes, or when no block is open.
 *
 * Representation: a table a line, at most half full, from variable to its past; a new outermost block makes it empty by
 * counting up a generation. Cost: a look-up in a table that is small and at hand.
 */
#ifndef FISSION_CHECK_BLOCKS_PAST_H
#define FISSION_CHECK_BLOCKS_PAST_H

#include "check/blocks.h"

struct pasts *pasts_new(struct arena *a);

/* What the line does. past_access returns what is held, for others. */
guard_id past_access(struct blocks *b, const struct event *e);
void past_open(struct blocks *b, const struct event *e);
void past_close(struct blocks *b, const struct event *e);
void past_acquire(struct blocks *b, const struct event *e);
void past_release(struct blocks *b, const struct event *e);

/* The end of the trace: all blocks close. */
void pasts_finish(struct blocks *b);

/* The variable begins a new life: what open blocks have done to it is over. */
void pasts_forget(struct blocks *b, uint64_t x);

/* Variable y has the same past as x. */
void pasts_copy(struct blocks *b, uint64_t x, uint64_t y);

/* Whether the line is in a block. */
bool past_is_open(struct blocks *b, uint32_t line);

#endif
