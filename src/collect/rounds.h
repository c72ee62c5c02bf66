/* SPDX-License-Identifier: MIT */
/*
 * Rounds: accesses in a ring that come from the same few places in the code again and again, at whatever addresses. What
 * a thread can count (runtime/loops.h) never gets here; this is for loops that go through memory in no fixed steps.
 *
 * The first slot says how many there are in a round: as many as come before its place does again. Nothing but places and
 * addresses is looked at then, and whoever takes the rounds looks up each place once. Where there are none, that is
 * known after a slot or two of the second round; where they are few, they were looked at for nothing. So ask at times.
 *
 * The slots belong to a program that may write anything, at any time: of each word that counts, it is the one load in
 * rounds_find() that does.
 */
#ifndef FISSION_COLLECT_ROUNDS_H
#define FISSION_COLLECT_ROUNDS_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/channel.h"

enum { ROUNDS_LEAST = 32, ROUNDS_WHOLE = 4 }; /* accesses, and whole rounds: fewer are not worth it */

struct rounds {
	uint32_t items;            /* of a round */
	uint64_t pc[LOOP_ITEMS];   /* of each; what is behind them is theirs again */
	uint16_t what[LOOP_ITEMS]; /* kind 8 | bytes 8 */
	uint64_t *address;         /* of each access, in order: the caller's, room for all slots */
};

/*
 * How many of the slots, from the first on, are such accesses; none of them lacks its address. They need not end with a
 * whole round. 0: too few, or it is something else.
 */
size_t rounds_find(struct rounds *r, const struct slot *slots, size_t most);

#endif
