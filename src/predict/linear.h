/* SPDX-License-Identifier: MIT */
/*
 * From a saturated order to a run: greedily, one node after another.
 *
 * A node may come next if everything before it has; an acquire if the lock is free; a kept read if its write is the
 * last one; a write if no kept read waits for what it would overwrite. Among those that may, the thread that ran last
 * goes on (few switches make a plan that is easy to follow and to read); if that gets stuck, another try goes by the
 * trace.
 */
#ifndef FISSION_PREDICT_LINEAR_H
#define FISSION_PREDICT_LINEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "predict/closure.h"

/* Fills in all nodes of the ideal as steps, in an order that they can have. False if both tries got stuck. */
bool linear_make(const struct closure *c, uint32_t *steps);

/* Any order that the edges allow, without a look at locks and reads: for edges that have decided those. */
bool linear_sort(const struct closure *c, uint32_t *steps);

#endif
