/* SPDX-License-Identifier: MIT */
/*
 * What seems to protect a variable or a lock, by its uses so far: inferred lock sets behind the states of Eraser.
 *
 * A use of a thing is harmless (it commutes with what other threads do) while the thing has one owner, while it is
 * only read, or while some lock is common to the uses that it might collide with. Uses are judged as they come, with
 * what is known by then: a lock set that empties later does not call back what was said before. See check/atomizer.c.
 *
 * Representation: sixteen bytes. The states, in this order and never back:
 *
 *   NEW      no use yet
 *   LOCAL    all uses by `owner`
 *   SECOND   after that, all uses by another `owner`: the thing was made by one thread and handed to another
 *   READ     by several threads, which since then have only read it
 *   SHARED   anything else: `access` has the locks held at every use, `write` those held at every write, both since
 *            this state was entered; LOCKSET_ALL before the first
 *
 * Which states there are is a choice of the owner of the table (struct protector). Invariant: `owner` is 0 but in
 * LOCAL and SECOND; in SHARED, `access` is within `write`.
 * Cost: one comparison for a thing with an owner; otherwise one or two meets of lock sets.
 */
#ifndef FISSION_STATE_PROTECTION_H
#define FISSION_STATE_PROTECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "state/lockset.h"

enum protection_state { PROTECTION_NEW, PROTECTION_LOCAL, PROTECTION_SECOND, PROTECTION_READ, PROTECTION_SHARED };

/* Every lock that there is. */
#define LOCKSET_ALL UINT32_MAX

struct protection {
	uint32_t owner; /* a line */
	uint32_t state; /* enum protection_state */
	lockset_id access, write;
};

/* Which of the states there are, and what lock sets are used for. */
enum protection_rule {
	PROTECT_LOCAL = 1,
	PROTECT_SECOND = 2, /* only behind LOCAL */
	PROTECT_READ = 4,
	PROTECT_LOCKS = 8,  /* a lock common to all uses protects */
	PROTECT_WRITES = 16 /* for a read, a lock common to all writes is enough */
};

struct protector {
	struct locksets *locksets;
	unsigned rules; /* enum protection_rule */
};

/* One use of a thing. `held`: the locks whose holder excludes every use that this one would collide with. */
struct use {
	uint32_t line;
	lockset_id held;
	bool write;
};

/* Slow path of protection_use. */
bool protection_use_shared(const struct protector *by, struct protection *p, struct use u);

/* Takes note of the use; returns whether it is harmless. */
static inline bool protection_use(const struct protector *by, struct protection *p, struct use u)
{
	return p->owner == u.line || protection_use_shared(by, p, u);
}

#endif
