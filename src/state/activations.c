/* SPDX-License-Identifier: MIT */
#include "activations.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"

void activations_push(struct activations *s, struct arena *a, struct activation activation)
{
	assert(s->depth == 0 || s->at[s->depth - 1].begin < activation.begin);
	s->at = arena_reserve(a, s->at, &s->capacity, s->depth, sizeof *s->at);
	s->at[s->depth++] = activation;
	s->exact += activation.exact;
}

struct activation *activations_youngest(const struct activations *s, enum activation_sort sort)
{
	for (size_t i = s->depth; i-- > 0;)
		if (s->at[i].sort == sort)
			return &s->at[i];
	return NULL;
}

void activations_pop(struct activations *s, struct activation *gone)
{
	s->exact -= gone->exact;
	s->depth--;
	memmove(gone, gone + 1, (size_t)(s->at + s->depth - gone) * sizeof *gone);
}

/* How many activations had begun by `seq`: they are the oldest. */
static size_t begun_by(const struct activations *s, uint64_t seq)
{
	size_t low = 0, high = s->depth;

	if (high && s->at[high - 1].begin <= seq)
		return high;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->at[middle].begin <= seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_cut(const struct activations *s, const struct activation *a, uint64_t seq)
{
	return a->sort != ACTIVATION_BLOCK && seq <= s->cut;
}

const struct activation *activations_holding(const struct activations *s, uint64_t seq)
{
	for (size_t i = begun_by(s, seq); i-- > 0;)
		if (s->at[i].block && !is_cut(s, &s->at[i], seq))
			return &s->at[i];
	return NULL;
}

const struct activation *activations_exact_holding(const struct activations *s, uint64_t seq)
{
	for (size_t i = begun_by(s, seq); i-- > 0;)
		if (s->at[i].exact && !is_cut(s, &s->at[i], seq))
			return &s->at[i];
	return NULL;
}
