/* SPDX-License-Identifier: MIT */
/* random: a random walk. Before each operation every thread that can go on is as likely to. */
#include <stddef.h>

#include "sched/strategy.h"

static uint32_t pick(struct sched *s)
{
	uint32_t choices = 0, n;

	for (uint32_t i = 0; i < s->threads; i++)
		choices += sched_may(s, i);
	n = choices ? sched_random(s, choices) : 0;
	for (uint32_t i = 0; i < s->threads; i++)
		if (sched_may(s, i) && !n--)
			return i;
	return SCHED_NOBODY;
}

extern const struct strategy strategy_random;
const struct strategy strategy_random = {
	.name = "random",
	.summary = "a random walk: before each operation any thread that can go on",
	.pick = pick,
};
