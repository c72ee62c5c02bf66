/* SPDX-License-Identifier: MIT */
#include "activations.h"

#include <string.h>

struct activation *activations_youngest(const struct activations *s, enum activation_sort sort)
{
	for (size_t i = s->depth; i-- > 0;)
		if (s->at[i].sort == sort)
			return &s->at[i];
	return NULL;
}

void activations_pull(struct activations *s, struct activation *gone)
{
	s->exact -= gone->exact;
	s->depth--;
	memmove(gone, gone + 1, (size_t)(s->at + s->depth - gone) * sizeof *gone);
	for (size_t i = (size_t)(gone - s->at); i < s->depth; i++)
		activations_link(s, i);
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

/* A cut that came at `seq` or after it leaves only what is literal. */
static bool is_cut(const struct activations *s, uint64_t seq)
{
	return seq <= s->cut;
}

const struct activation *activations_holding(const struct activations *s, uint64_t seq)
{
	size_t n = begun_by(s, seq);
	uint32_t found = !n ? 0 : is_cut(s, seq) ? s->at[n - 1].youngest_literal : s->at[n - 1].youngest_block;

	return found ? &s->at[found - 1] : NULL;
}

const struct activation *activations_exact_holding(const struct activations *s, uint64_t seq)
{
	size_t n = begun_by(s, seq);
	uint32_t found = !n ? 0 : is_cut(s, seq) ? s->at[n - 1].youngest_literal : s->at[n - 1].youngest_exact;

	return found ? &s->at[found - 1] : NULL;
}
