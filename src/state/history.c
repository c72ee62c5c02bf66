/* SPDX-License-Identifier: MIT */
#include "history.h"

#include "base/arena.h"

struct history {
	struct history_step {
		uint64_t since;
		clock_time time;
	} *at;
	size_t count, capacity;
};

void histories_init(struct histories *h, struct arena *a)
{
	*h = (struct histories){.arena = a};
	seg_init(&h->line, a, sizeof(struct history));
}

static struct history *history_of(struct histories *h, uint32_t line)
{
	return seg_at(&h->line, line, sizeof(struct history));
}

static void thin_out(struct history *y)
{
	size_t kept = 0;

	for (size_t i = 0; i < y->count; i++)
		if (i % 2 == 0 || i >= HISTORY_MOST / 2)
			y->at[kept++] = y->at[i];
	y->count = kept;
}

void history_note(struct histories *h, uint32_t line, uint64_t since, clock_time time)
{
	struct history *y = history_of(h, line);

	if (y->count && y->at[y->count - 1].time == time)
		return;
	if (y->count == HISTORY_MOST)
		thin_out(y);
	y->at = arena_reserve(h->arena, y->at, &y->capacity, y->count, sizeof *y->at);
	y->at[y->count++] = (struct history_step){since, time};
}

/* A line's time starts at 1. The search is by sums, not by branches: which way it goes nobody can guess. */
clock_time history_at(struct histories *h, uint32_t line, uint64_t seq)
{
	const struct history *y = history_of(h, line);
	const struct history_step *at = y->at;
	size_t n = y->count;

	if (!n || at->since >= seq)
		return 1;
	for (size_t half; n > 1; n -= half) {
		half = n / 2;
		at += at[half].since < seq ? half : 0;
	}
	return at->time;
}
