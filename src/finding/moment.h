/* SPDX-License-Identifier: MIT */
/*
 * The moments of a finding: its path in its surroundings, as the rows of a picture.
 *
 * Of each thread of the path: the path's operations; the acquires and the releases of the locks that are held at them;
 * and, between the block's two ends and in the sections around all operations of the path, other uses of the path's
 * variables and whatever else synchronises. Re-entrant acquires and releases inside the outermost change nothing
 * and are no moments. A wait is three of them: the wait, the release of its mutex, and later its acquire.
 *
 * There are at most MOMENTS_MOST, unless the path is longer: the path's own first, then the locks that it holds, then
 * what is nearest to it. `skipped` counts all events of the thread that the row before and this one leave out between
 * them, also uses of other variables. A finding whose surroundings are forgotten has its path alone.
 */
#ifndef FISSION_FINDING_MOMENT_H
#define FISSION_FINDING_MOMENT_H

#include <stddef.h>
#include <stdint.h>

#include "finding/finding.h"

enum { MOMENTS_MOST = 40 };

/*
 * Puts the moments into the order of the finding's path. They come thread by thread, the block's first, the others as
 * the path meets them, each in its own order. What happened is in the order of the run. Otherwise the block goes on to
 * where the culprits' locks are free, then the culprits come, then the rest of the block.
 */
void moments_order(struct moment *at, size_t count, const struct finding *f);

/*
 * The locks that are held right before moment i, or at it: fills in the numbers of their acquires, the first taken
 * first, and returns how many. `to` has room for i.
 */
size_t moments_held(const struct moment *at, size_t i, size_t *to);

#endif
