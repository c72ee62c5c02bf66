/* SPDX-License-Identifier: MIT */
/* One defect, one finding: what locks say about a block goes to the finding in which data says it. */
#ifndef FISSION_FINDING_FOLD_H
#define FISSION_FINDING_FOLD_H

struct findings;

/*
 * Folds each finding without conflicting data into the best one with data of the same block, unless its rank is better
 * or it is known to be about another lock. Its evidence goes along. For findings_finish(), once every rank is known.
 */
void findings_fold(struct findings *f);

#endif
