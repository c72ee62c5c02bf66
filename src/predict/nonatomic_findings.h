/* SPDX-License-Identifier: MIT */
/*
 * What the values of a trace say about the findings in it: which of the splits that happened matter to what was read.
 *
 * A finding's block is judged twice. Alone, with everything else in pieces: then nothing but this block can be to
 * blame. If that explains the values, together with the blocks that its path goes through in other threads: two
 * withdrawals need each other to lose an update. Such a partner is the activation of the same code that the culprit is
 * in, or the outermost declared block, or the outermost function that ran while the block was open. What the partners
 * alone do wrong is not said of this block.
 *
 * The answer becomes evidence of the finding: check "nonatomic", kind "value", "final" or "cycle". Nothing else about
 * the finding changes. A finding that did not happen in this run gets none.
 */
#ifndef FISSION_PREDICT_NONATOMIC_FINDINGS_H
#define FISSION_PREDICT_NONATOMIC_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

struct findings;
struct whole;

/* The check's name in evidence. */
extern const char nonatomic_name[];

struct nonatomic_told {
	bool valued;        /* the trace has values; if not, nothing was judged */
	uint64_t judged;    /* findings */
	uint64_t undecided; /* of them */
	uint64_t fast;      /* of them: `value` or `final` by the fast conditions alone */
	uint32_t unexplained; /* variables that were written to by nobody in the trace: their values do not count */
};

/* w is the trace that the findings are of, with the same tables. The budget is for each question; 0: the usual one. */
struct nonatomic_told nonatomic_findings(struct findings *f, const struct whole *w, uint64_t budget);

#endif
