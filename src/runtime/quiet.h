/* SPDX-License-Identifier: MIT */
/*
 * Sections that nobody needs to hear of (MODE_QUIET, with MODE_STOCK). A lock costs ten nanoseconds and telling of it a
 * hundred, so a program that does little else would be slower by far; and what is looked for are windows, two sections
 * of one lock in one activation, and locks inside of locks. A place that has locked QUIET_AFTER times, each time alone,
 * is not likely to become an end of either. From then on its sections are not told.
 *
 * A lock that had a window is told by all, since any of them may be the culprit; different locks may share that fate.
 *
 * A place is loud, and told for ever, if it was an end of a window between two places (of one place and itself it is a
 * loop, which is hidden anyway), if it locked while the thread held a lock, or if another was locked while it held its
 * own. A place that locks what a quiet one has locked last, in the same thread, and was not known before, wakes that
 * one up: it is told QUIET_AFTER times more. And after QUIET_LONG sections that were not told, a thread tells of
 * QUIET_FEW, wherever.
 *
 * So what may be missed is a window that a well-known place becomes an end of, late, together with another well-known
 * one, and not often. How many sections were not told is counted.
 */
#ifndef FISSION_RUNTIME_QUIET_H
#define FISSION_RUNTIME_QUIET_H

#include "runtime/self.h"

enum { QUIET_AFTER = 64, QUIET_LONG = 1 << 12, QUIET_FEW = 32 };

extern bool quiet_on __attribute__((visibility("hidden")));

/* Whether the entry is not to be told; if it is, quiet_told() comes next. */
bool quiet_keeps(enum entry_kind kind, const void *object, void *pc);
void quiet_told(struct self *s, const struct sync *y);

/*
 * The calling thread holds the mutex, of which nobody has heard, and is about to wait with it, or has taken another: it is
 * told now.
 */
void quiet_waits(struct self *s, const void *mutex);

/* The calling thread ends. */
void quiet_over(void);

#endif
