/* SPDX-License-Identifier: MIT */
/*
 * Where the value of a load goes: the instructions that use it, or what was made of it, in its function, through local
 * variables, into callees by their arguments, and out to the caller by the result.
 *
 * Through other memory it is not followed. Kept by load and caller, so it costs its uses once.
 */
#ifndef FISSION_SYMBOLIC_FLOW_H
#define FISSION_SYMBOLIC_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "symbolic/units.h"

struct follow;

struct flow {
	struct map uses;    /* place_key of an instruction: 1 */
	struct place *use;
	size_t count, room;
};

struct flows {
	struct follow *follow;
	struct map by_load; /* hash to index + 1 */
	struct flow **at;
	size_t count, room;
};

void flows_init(struct flows *fs, struct follow *f);

/* The uses of a load in an activation. */
const struct flow *flow_of(struct flows *fs, struct place load, uint32_t activation);

static inline bool flow_has(const struct flow *flow, struct place p)
{
	return map_get(&flow->uses, place_key(p)) != 0;
}

#endif
