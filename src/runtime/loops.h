/* SPDX-License-Identifier: MIT */
/*
 * Accesses that come again and again, of a thread of which everything is recorded: channel.h has what is told of them.
 *
 * How one is found. A hook that tells of an access looks at the slot before its own: an access of code that lies further
 * back, or at the same place, is where a loop may begin again. If that is the third time for one place, with as many slots
 * in between both times, the slots themselves are compared (loops_begin): two rounds and the next access must agree. What
 * the collector has taken meanwhile cannot be compared; there will be another round. A place to which it was no loop, or
 * one of few rounds, is not asked about again before a quarter of the ring was filled.
 *
 * How it goes on. The hook compares place and address with what is to come, and counts, by one instruction on loop.at: if a
 * signal handler has been there in between, `at` is another, and the hook looks again. So that no entry gets between those
 * that are counted, the ring has no limit to stay below meanwhile: whoever puts something comes to self_full(), which ends
 * the loop.
 *
 * Signal handlers. One may come up anywhere here. A loop is ended once, by whoever takes `at` away. One in the making is
 * not touched by others, and is ended at once if there is anything behind its slots by then. A number in `at` tells it
 * from those that a handler has begun.
 */
#ifndef FISSION_RUNTIME_LOOPS_H
#define FISSION_RUNTIME_LOOPS_H

#include "runtime/channel.h"

/* Of the ring's thread, when it has just put an access at that place of its slots: the same may have come before. */
void loops_begin(struct self *s, uint64_t at);

/* Ends what is counted, if anything is. Whoever calls it sets the limit anew. */
void loops_end(struct self *s);

/* The same, and what a hook has begun that is left for ever. */
void loops_mend(struct self *s);

/* Places that were no loops may be asked about again. */
void loops_forgive(struct self *s);

/* A new thread has the ring. */
void loops_reset(struct self *s);

#endif
