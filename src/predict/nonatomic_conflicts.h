/* SPDX-License-Identifier: MIT */
/*
 * The conflict graph of a history's blocks: who touched what before whom, program order, fork and join.
 *
 * A run whose graph has no cycle is atomic: any order that follows the graph explains it. If there are cycles, their
 * components still have an order, and what follows that is the best guess at a serial order that there is.
 */
#ifndef FISSION_PREDICT_NONATOMIC_CONFLICTS_H
#define FISSION_PREDICT_NONATOMIC_CONFLICTS_H

#include <stdbool.h>

struct history;

/* Ranks the blocks by component, then as they began. Returns whether there is a cycle. */
bool conflicts_rank(struct history *h);

#endif
