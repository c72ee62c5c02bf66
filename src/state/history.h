/* SPDX-License-Identifier: MIT */
/*
 * Which time of its own clock each line had at which event: for accesses that are told late.
 *
 * Representation: steps (since, time) a line, oldest first: behind the event `since` the time was `time`. Both grow.
 * At HISTORY_MOST steps every second one of the older half goes, so a question about long ago may be answered by an
 * earlier time: whoever has seen the right one has seen that too, so nothing is taken for a race that is none.
 * Cost: a comparison an event that synchronises; an answer is a binary search, most of it in two kilobytes.
 */
#ifndef FISSION_STATE_HISTORY_H
#define FISSION_STATE_HISTORY_H

#include <stdbool.h>

#include "base/seg.h"
#include "state/vclock.h"

enum { HISTORY_MOST = 4096 };

struct histories {
	struct arena *arena;
	struct seg line; /* struct history */
	bool kept;       /* somebody will ask */
};

struct history;

void histories_init(struct histories *h, struct arena *a);

/* That of a line, which stays where it is. */
struct history *history_of(struct histories *h, uint32_t line);

/* Behind the line's event `since` its time is `time`. */
void history_note(struct histories *h, struct history *y, uint64_t since, clock_time time);

/* What it was at `seq`. */
clock_time history_at(struct history *y, uint64_t seq);

#endif
