/* SPDX-License-Identifier: MIT */
/*
 * The data of a split that was seen by its locks.
 *
 * Where the culprit's section comes to the block's second variable before it comes to the first, no single access of it
 * is after the block's first section and before its second by data: only the lock says so, which keeps the culprit's
 * section in one piece. Values may say all the same that no serial order explains it. Such a finding is told by what its
 * threads have accessed: the last access of the first section that the culprit conflicts with, and the first of the
 * second.
 */
#ifndef FISSION_CHASE_CONFLICT_H
#define FISSION_CHASE_CONFLICT_H

#include <stddef.h>

struct judged;

/* Sets the finding's path and moments, if there are such accesses; otherwise it stays as it is. */
void conflict_tell(struct judged *j, size_t finding);

#endif
