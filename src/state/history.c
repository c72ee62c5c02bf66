/* SPDX-License-Identifier: MIT */
#include "history.h"

#include <string.h>

#include "base/arena.h"

enum { FEW = 16 };

struct history {
	struct history_step {
		uint64_t since;
		clock_time time;
	} *at;
	size_t count, capacity;
	uint64_t *first; /* of each FEW steps, the first one's since */
	size_t firsts;   /* that there is room for */
	size_t answer; /* the step that was asked for last, if it is still there */
};

void histories_init(struct histories *h, struct arena *a)
{
	*h = (struct histories){.arena = a};
	seg_init(&h->line, a, sizeof(struct history));
}

struct history *history_of(struct histories *h, uint32_t line)
{
	return seg_at(&h->line, line, sizeof(struct history));
}

/* Every second one of the older half goes. */
static __attribute__((noinline)) void thin_out(struct history *y)
{
	const size_t half = HISTORY_MOST / 2;

	for (size_t i = 1; i < half / 2; i++)
		y->at[i] = y->at[2 * i];
	memmove(&y->at[half / 2], &y->at[half], (y->count - half) * sizeof *y->at);
	y->count -= half / 2;
	for (size_t i = 0; i * FEW < y->count; i++)
		y->first[i] = y->at[i * FEW].since;
}

void history_note(struct histories *h, struct history *y, uint64_t since, clock_time time)
{
	if (y->count && y->at[y->count - 1].time == time)
		return;
	if (y->count == HISTORY_MOST)
		thin_out(y);
	y->at = arena_reserve(h->arena, y->at, &y->capacity, y->count, sizeof *y->at);
	if (y->count % FEW == 0) {
		y->first = arena_reserve(h->arena, y->first, &y->firsts, y->count / FEW, sizeof *y->first);
		y->first[y->count / FEW] = since;
	}
	y->at[y->count++] = (struct history_step){since, time};
}

/* Whether the step holds at `seq`: it began before that, and the next one did not. */
static inline bool holds(const struct history *y, size_t i, uint64_t seq)
{
	return i < y->count && y->at[i].since < seq && (i + 1 == y->count || y->at[i + 1].since >= seq);
}

/*
 * The last step that began before seq, of which there is one. The search is by sums, not by branches: which way it goes
 * nobody can guess. It goes over the first ones of few, which stay near, and then over those few.
 */
static size_t search(const struct history *y, uint64_t seq)
{
	const uint64_t *first = y->first;
	const struct history_step *at;
	size_t n = (y->count + FEW - 1) / FEW;

	for (size_t half; n > 1; n -= half) {
		half = n / 2;
		first += first[half] < seq ? half : 0;
	}
	at = &y->at[(size_t)(first - y->first) * FEW];
	n = (size_t)(y->at + y->count - at);
	for (size_t half = n < FEW ? n : FEW; half > 1; half -= half / 2)
		at += at[half / 2].since < seq ? half / 2 : 0;
	return (size_t)(at - y->at);
}

/* A line's time starts at 1. What comes late comes in rows of one time, so the last answer is tried first. */
clock_time history_at(struct history *y, uint64_t seq)
{
	if (holds(y, y->answer, seq))
		return y->at[y->answer].time;
	if (!y->count || y->at->since >= seq)
		return 1;
	y->answer = search(y, seq);
	return y->at[y->answer].time;
}
