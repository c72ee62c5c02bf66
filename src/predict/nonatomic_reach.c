/* SPDX-License-Identifier: MIT */
#include "nonatomic_reach.h"

#include "base/arena.h"

static const size_t WORDS_MOST = (size_t)1 << 25;

bool reach_fits(const struct history *h)
{
	return ((size_t)h->q->blocks + 1) * ((size_t)h->q->threads + 1) <= WORDS_MOST;
}

static uint32_t *row(const struct reach *r, uint32_t b)
{
	return r->from + (size_t)b * r->width;
}

/* The blocks of thread t that must come before b are a prefix of its chain: how long it is. */
static uint32_t prefix_before(const struct reach *r, uint32_t t, uint32_t b)
{
	const uint32_t *chain = r->h->chain + r->h->chain_at[t];
	uint32_t low = 0, high = history_length(r->h, t);

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (reach_before(r, chain[middle], b))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* All that comes after b comes after a. */
static void learn(struct reach *r, uint32_t a, uint32_t b)
{
	for (uint32_t t = 0; t < r->width; t++)
		if (row(r, a)[t] > row(r, b)[t])
			row(r, a)[t] = row(r, b)[t];
	r->work++;
}

/* Whatever must come before a learns what b knows. What knows b already, and what is before that, knows all of it. */
bool reach_add(struct reach *r, uint32_t a, uint32_t b)
{
	if (reach_before(r, b, a))
		return false;
	if (reach_before(r, a, b))
		return true;
	for (uint32_t t = 0; t + 1 < r->width; t++) {
		const uint32_t *chain = r->h->chain + r->h->chain_at[t];

		for (uint32_t n = prefix_before(r, t, a); n > 0 && !reach_before(r, chain[n - 1], b); n--)
			learn(r, chain[n - 1], b);
	}
	return true;
}

bool reach_make(struct reach *r, const struct history *h)
{
	const struct nonatomic_question *q = h->q;
	size_t words;

	*r = (struct reach){.h = h, .width = q->threads + 1};
	words = ((size_t)q->blocks + 1) * r->width;
	r->from = arena_alloc(h->arena, words * sizeof *r->from);
	for (size_t i = 0; i < words; i++)
		r->from[i] = HISTORY_NONE;
	for (uint32_t b = 0; b <= q->blocks; b++) {
		row(r, b)[reach_thread(r, b)] = reach_position(r, b);
		row(r, b)[q->threads] = 0;
	}
	for (size_t i = 0; i < q->orders; i++)
		if (q->order[i].before != q->order[i].after && !reach_add(r, q->order[i].before, q->order[i].after))
			return false;
	return true;
}
