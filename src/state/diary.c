/* SPDX-License-Identifier: MIT */
#include "diary.h"

#include "base/arena.h"

void diaries_init(struct diaries *d, struct arena *a)
{
	d->arena = a;
	seg_init(&d->line, a, sizeof(struct diary));
}

/* Until it is full, note i is at[i], so growing keeps every note in its place. */
void diary_grow(struct diary *d, struct arena *a)
{
	size_t capacity = d->capacity ? 2 * d->capacity : DIARY_LEAST;

	d->at = arena_grow(a, d->at, d->capacity * sizeof *d->at, capacity * sizeof *d->at);
	d->capacity = capacity;
}

uint64_t diary_since(const struct diary *d, uint64_t seq, bool *whole)
{
	uint64_t first = diary_first(d), low = first, high = d->count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (diary_note(d, middle)->seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	*whole = first == 0 || low > first;
	return low;
}
