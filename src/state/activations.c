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
	s->declared += activation.declared;
}

struct activation *activations_youngest(const struct activations *s, bool declared)
{
	for (size_t i = s->depth; i-- > 0;)
		if (s->at[i].declared == declared)
			return &s->at[i];
	return NULL;
}

void activations_pop(struct activations *s, bool declared)
{
	struct activation *gone = activations_youngest(s, declared);

	assert(gone);
	s->depth--;
	s->declared -= declared;
	memmove(gone, gone + 1, (size_t)(s->at + s->depth - gone) * sizeof *gone);
}

const struct activation *activations_holding(const struct activations *s, uint64_t seq)
{
	size_t low = 0, high = s->depth;

	if (high && s->at[high - 1].begin <= seq)
		return &s->at[high - 1];
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->at[middle].begin <= seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &s->at[low - 1] : NULL;
}

const struct activation *activations_declared_holding(const struct activations *s, uint64_t seq)
{
	const struct activation *a = activations_holding(s, seq);

	while (a && !a->declared)
		a = a == s->at ? NULL : a - 1;
	return a;
}
