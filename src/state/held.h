/* SPDX-License-Identifier: MIT */
/*
 * The locks that each line holds: as a list in the order in which they were taken, and as sets.
 *
 * A re-entrant acquire changes nothing, a wait gives its mutex back until the thread's next event. The shared side of
 * a reader-writer lock keeps writers out but not other readers: it is in `all` and not in `exclusive`. So a read is
 * protected by what it holds in `all`, a write by what it holds in `exclusive`.
 * Cost: linear in the locks held, which are few.
 */
#ifndef FISSION_STATE_HELD_H
#define FISSION_STATE_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/seg.h"
#include "state/last.h"
#include "state/lockset.h"

struct held_lock {
	sync_id lock;
	bool shared;
	struct mark acquire;
	lockset_id all, exclusive; /* what was held before */
};

struct held {
	struct held_lock *at; /* oldest first */
	size_t count, capacity;
	lockset_id all, exclusive;
};

struct helds {
	struct arena *arena;
	struct locksets locksets;
	struct seg line; /* struct held by line */
};

void helds_init(struct helds *h, struct arena *a);

static inline struct held *held_by(struct helds *h, uint32_t line)
{
	return seg_at(&h->line, line, sizeof(struct held));
}

/* e is an acquire or release of one side, and changes who holds it. */
void held_acquire(struct helds *h, const struct event *e);
void held_release(struct helds *h, const struct event *e);

/* The entry of a lock that the line holds, or NULL. */
const struct held_lock *held_find(const struct held *h, sync_id m);

#endif
