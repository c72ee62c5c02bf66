/* SPDX-License-Identifier: MIT */
/*
 * Functions that the compiler has put into others, as activations.
 *
 * A program that was not built with fission-cc tells of the frames on its stack; what was inlined has none. Where there
 * is debug information, a place says in which inlined calls it is. Two places in a row that are in the same one are
 * taken for one activation of it, if the second lies behind the first in the code: going back, a loop may have come
 * around, and it may be another call. So this can split an activation in two, and never makes one of two in a row,
 * unless the compiler has laid out a loop so that its second round lies behind its first.
 */
#ifndef FISSION_COLLECT_INLINED_H
#define FISSION_COLLECT_INLINED_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/seg.h"
#include "event/tables.h"

struct naming;

/* An inlined call that a place is in. */
struct inlined_call {
	code_id code;
	site_id from;
	uint64_t instance; /* never 0 */
};

/* Those of a place, the outermost first. */
struct inlined_chain {
	const struct inlined_call *at;
	uint32_t count;
};

struct inlined_calls {
	struct arena *arena;
	struct map by_place; /* to the number of its chain */
	struct seg chain;    /* struct inlined_chain, from 1 */
	uint32_t chains;
};

void inlined_init(struct inlined_calls *c, struct arena *a);

/* Of the call in the process that returns to pc. */
struct inlined_chain inlined_at(struct inlined_calls *c, struct naming *n, uint32_t process, uint64_t pc);

#endif
