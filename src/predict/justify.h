/* SPDX-License-Identifier: MIT */
/*
 * A prediction as a finding, among those of the checks.
 *
 * What it promises (finding.h, struct promise) is less than what other predictions do. That nothing deadlocks on the
 * way it need not: the order is there, to its end. That nothing races it need not either, where the trace is the order
 * that was: each read sees what it saw. But the order of a recording's racing accesses is made up, and so is what a
 * read in it saw, unless its value was recorded and is that of the write. So a prediction from a recording without
 * values, or with values that do not agree, takes for granted that nothing races among what it has reordered.
 */
#ifndef FISSION_PREDICT_JUSTIFY_H
#define FISSION_PREDICT_JUSTIFY_H

struct findings;
struct prediction;
struct whole;

/* Adds the prediction, which has a plan. findings->recorded must be set. */
void justify(struct findings *f, const struct whole *w, const struct prediction *p);

#endif
