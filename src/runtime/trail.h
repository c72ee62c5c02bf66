/* SPDX-License-Identifier: MIT */
/*
 * The trail of a thread of which everything is recorded: channel.h has where it lies, event/trail.h what is in it. The
 * hooks in programs write it themselves (driver/fission/hooks_trail.h) where the place is known and there is room; this is
 * the same in C, for the rest.
 *
 * Order. What goes through slots comes behind what is in the trail by then: self_full() sees to it, since a ring whose
 * thread has a trail has no limit to stay below. It reserves slots, and if there is anything in the trail that was not
 * told, gives them back, tells, and reserves others. TRAIL says how far the trail has come, not how much is new: so it
 * does no harm if a signal handler has told the same, or more.
 *
 * Signal handlers. While a hook writes, `trail_busy` is set, and a handler that comes up puts slots; what is expected of a
 * place is never changed by two. A hook that is left for ever leaves it set: trail_mend() forgets all places, so that each
 * is defined again before it is used.
 *
 * Other reasons to put slots: the collector must look at each access or call while the thread may be trying a lock of its
 * own making, is inside of a wait, or has asked that something is ignored. What speaks against trails altogether, as
 * functions that are declared to be something, the collector knows when it has seen the module; until then no place is
 * defined.
 */
#ifndef FISSION_RUNTIME_TRAIL_H
#define FISSION_RUNTIME_TRAIL_H

#include "event/trail.h"
#include "runtime/self.h"

_Static_assert((int)TRAIL_SITES == TRAIL_PLACES && (int)DEPTH_UNKNOWN == TRAIL_DEPTH_UNKNOWN && (int)DEPTH_UNIT == TRAIL_UNIT,
	"as in the file");

/* A new thread has the ring. */
void trail_begin(struct self *s);

/* An access or a call. False: it must be put. `what` as in DEFINE; `from` as in put_call() of abi_tsan.c. */
bool trail_access(struct self *s, uint8_t what, uintptr_t address, void *pc);
bool trail_call(struct self *s, bool enters, uintptr_t frame, uintptr_t from, void *pc);

/* Says how far the trail has come. False: it cannot be said, since nobody listens, or only to who has been interrupted. */
bool trail_tell(struct self *s);

static inline bool trail_has_more(const struct self *s)
{
	return s->trails && s->trail_at != s->trail_told;
}

/* A hook is left for ever, if one was at it. */
void trail_mend(struct self *s);

/* The thread writes no more of it. */
void trail_off(struct self *s);

/* What was put means that the next accesses must be, too. */
void trail_after(struct self *s, const struct sync *y);
void trail_jumped(struct self *s);
void trail_ignore(struct self *s, unsigned what);

/* Code was loaded, or is no more: what all threads of this process know of places may be wrong. */
void trail_code_changes(uint32_t process);

#endif
