/* SPDX-License-Identifier: MIT */
#include "controlled.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/input.h"
#include "base/output.h"
#include "collect/collect.h"
#include "sched/order.h"
#include "sched/strategy.h"

struct controlled controlled;

const char *controlled_strategies(size_t i, const char **about)
{
	if (about && strategies[i])
		*about = strategies[i]->summary;
	return strategies[i] ? strategies[i]->name : NULL;
}

static const struct order *order_from(struct arena *a, const char *path)
{
	struct input in;
	struct fault fault = {0};
	const char *wrong;
	size_t bytes;
	void *block;

	if (!input_open(&in, path, &fault))
		die(fault.status, "%s", fault.text);
	while (input_more(&in, &fault))
		;
	if (fault.status)
		die(fault.status, "%s", fault.text);
	bytes = (size_t)(in.end - in.at);
	block = arena_alloc(a, bytes + 1);
	memcpy(block, in.at, bytes);
	input_close(&in);
	wrong = order_check(block, bytes);
	if (wrong)
		die(STATUS_TRACE, "%s: this is no order to run by: %s", path, wrong);
	return block;
}

const struct order *controlled_order(struct arena *a)
{
	struct order *o;

	if (controlled.order)
		return order_from(a, controlled.order);
	if (!controlled.strategy)
		return NULL;
	o = arena_alloc(a, sizeof *o);
	*o = (struct order){.magic = ORDER_MAGIC, .version = ORDER_VERSION, .seed = controlled.seed,
		.depth = (uint32_t)controlled.depth, .budget = controlled.budget};
	snprintf(o->strategy, sizeof o->strategy, "%s", controlled.strategy);
	if (order_check(o, order_bytes(o)))
		die(STATUS_USAGE, "record: --depth takes a number up to %d", ORDER_DEPTH_MOST);
	return o;
}

static void write_executed(const struct order *o)
{
	struct output out;

	if (!output_open(&out, controlled.executed))
		die(out.fault.status, "%s", out.fault.text);
	output_write(&out, o, order_bytes(o));
	if (!output_commit(&out))
		die(out.fault.status, "%s", out.fault.text);
}

void controlled_tell(const struct gated *g)
{
	if (!g->started)
		warn("the run was not controlled: the program was not built with fission-cc");
	if (g->deadlock)
		warn("deadlock: nobody could go on, and the program was ended\n%s", g->text ? g->text : "");
	if (g->stuck)
		warn("no step was made for too long, and the program was ended\n%s", g->text ? g->text : "");
	if (g->diverged)
		warn("the order could not be followed from step %llu on; %u of its steps were done",
			(unsigned long long)g->diverged_at, g->done);
	if (g->outside)
		warn("%llu threads ran without control", (unsigned long long)g->outside);
	if (g->real)
		warn("%llu operations on objects of several processes were done without control", (unsigned long long)g->real);
	if (controlled.executed && g->executed)
		write_executed(g->executed);
}
