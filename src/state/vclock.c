/* SPDX-License-Identifier: MIT */
#include "vclock.h"

#include "base/arena.h"

/* Makes room for lines 0 to `line`. Arrays grow by doubling, so `lines` is a power of two. */
static void reach(struct vclock *c, struct arena *a, uint32_t line)
{
	uint32_t lines = c->lines ? c->lines : VCLOCK_LEAST;

	if (line < c->lines)
		return;
	while (lines <= line)
		lines *= 2;
	c->at = arena_grow(a, c->at, c->lines * sizeof *c->at, lines * sizeof *c->at);
	c->lines = lines;
}

void vclock_set(struct vclock *c, struct arena *a, uint32_t line, clock_time time)
{
	reach(c, a, line);
	c->at[line] = time;
}

bool vclock_join(struct vclock *c, struct arena *a, const struct vclock *from)
{
	bool news = false;

	if (from->lines > c->lines)
		reach(c, a, from->lines - 1);
	for (uint32_t i = 0; i < from->lines; i++)
		if (from->at[i] > c->at[i]) {
			c->at[i] = from->at[i];
			news = true;
		}
	return news;
}

void vclock_copy(struct vclock *c, struct arena *a, const struct vclock *from)
{
	if (vclock_copy_least(c, from))
		return;
	if (from->lines > c->lines)
		reach(c, a, from->lines - 1);
	if (from->lines)
		memcpy(c->at, from->at, from->lines * sizeof *c->at);
	if (c->lines > from->lines)
		memset(c->at + from->lines, 0, (c->lines - from->lines) * sizeof *c->at);
}

bool vclock_within(const struct vclock *a, const struct vclock *b)
{
	for (uint32_t i = 0; i < a->lines; i++)
		if (a->at[i] > vclock_get(b, i))
			return false;
	return true;
}
