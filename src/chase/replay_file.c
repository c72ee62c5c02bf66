/* SPDX-License-Identifier: MIT */
#include "replay_file.h"

#include <string.h>

#include "base/arena.h"

const char *const ending_text[ENDINGS] = {"exit", "signal", "deadlock", "hang"};

struct order *replay_order(struct arena *a, uint32_t modules, uint32_t steps)
{
	size_t bytes = sizeof(struct order) + modules * sizeof(struct order_module) + steps * sizeof(struct order_step);
	struct order *o = arena_alloc(a, bytes);

	*o = (struct order){.magic = ORDER_MAGIC, .version = ORDER_VERSION, .strategy = "replay", .modules = modules,
		.steps = steps};
	return o;
}

struct order_module *replay_module(struct order *o, uint32_t i)
{
	return (struct order_module *)order_module(o, i);
}

struct order_step *replay_step(struct order *o, uint32_t i)
{
	return (struct order_step *)order_step(o, i);
}
