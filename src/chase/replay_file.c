/* SPDX-License-Identifier: MIT */
#include "replay_file.h"

#include <string.h>

#include "base/arena.h"
#include "event/event.h"

const char *const replay_given[INPUTS_KINDS] = {"env", "file", "input"};

const char *const ending_text[ENDINGS] = {"exit", "signal", "deadlock", "hang"};

const char *replay_kind(uint32_t kind)
{
	static const char *const beyond[] = {
		[ORDER_START - ORDER_START] = "start", [ORDER_FINISH - ORDER_START] = "finish",
		[ORDER_WOKEN - ORDER_START] = "woken", [ORDER_DEPART - ORDER_START] = "depart",
		[ORDER_ONCE - ORDER_START] = "once", [ORDER_YIELD - ORDER_START] = "yield",
		[ORDER_INPUT - ORDER_START] = "input",
	};

	_Static_assert(sizeof beyond / sizeof *beyond == ORDER_KINDS - ORDER_START, "each has a word");
	if (kind > EVENT_NONE && kind < EVENT_KINDS)
		return event_info[kind].text;
	return kind >= ORDER_START && kind < ORDER_KINDS ? beyond[kind - ORDER_START] : NULL;
}

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
