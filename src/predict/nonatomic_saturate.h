/* SPDX-License-Identifier: MIT */
/*
 * Saturation: what every serial order that explains a history has in common.
 *
 * A block that reads v from x needs a source: the block that wrote x last before it, and left v there. What must come
 * after the reader is no source, nor what another writer must come in between of; what was there at first is none if a
 * writer must come before. Without a source there is no serial order. With one only, it comes before the reader, and
 * every other writer of x before the source or after the reader, whichever is already known not to be the other way.
 * Again and again, until nothing is learned: a contradiction is a proof, the order that it has found prunes the search.
 */
#ifndef FISSION_PREDICT_NONATOMIC_SATURATE_H
#define FISSION_PREDICT_NONATOMIC_SATURATE_H

#include <stdbool.h>
#include <stdint.h>

struct reach;

/*
 * Adds to r what it learns. With `final`, the end of the run reads what was left. Returns false if it has found a
 * contradiction, at the access *op: a read, or of the final state the last write. Ends early when the budget is used
 * up.
 */
bool saturate(struct reach *r, bool final, uint64_t budget, uint32_t *op);

#endif
