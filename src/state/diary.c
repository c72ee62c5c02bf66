/* SPDX-License-Identifier: MIT */
#include "diary.h"

#include "base/arena.h"

enum { DIARY_INSERT = 256 }; /* notes that are moved to make place for one */

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

void diary_insert(struct diaries *s, const struct event *e)
{
	struct diary *d = diary_of(s, e->line);
	bool whole;
	uint64_t i = diary_since(d, e->seq + 1, &whole), last = d->count;

	if (!whole || last - i > DIARY_INSERT)
		return;
	diary_write(s, e);
	for (; last > i; last--) {
		struct note n = *diary_note(d, last);

		d->at[last & (d->capacity - 1)] = *diary_note(d, last - 1);
		d->at[(last - 1) & (d->capacity - 1)] = n;
	}
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
