/* SPDX-License-Identifier: MIT */
#include "rounds.h"

#include <stdbool.h>

static uint64_t first_of(const struct slot *s)
{
	return __atomic_load_n(&s->word[0], __ATOMIC_ACQUIRE);
}

static uint64_t second_of(const struct slot *s)
{
	return __atomic_load_n(&s->word[1], __ATOMIC_RELAXED);
}

/* Of a known size, by a place that is nothing but that. */
static bool is_plain_access(uint16_t what, uint64_t pc)
{
	uint8_t kind = (uint8_t)what;

	return (kind == ENTRY_READ || kind == ENTRY_WRITE) && what >> 8 && pc && !(pc >> ADDRESS_BITS);
}

static bool is_alike(const struct slot *a, const struct slot *b)
{
	return second_of(a) == second_of(b) && (uint16_t)first_of(a) == (uint16_t)first_of(b);
}

/* After how many slots the first one comes again, and once more; 0 if it does not. */
static size_t period(const struct slot *slots, size_t most)
{
	for (size_t n = 1; n <= LOOP_ITEMS && ROUNDS_WHOLE * n <= most; n++)
		if (is_alike(&slots[0], &slots[n]))
			return is_alike(&slots[0], &slots[2 * n]) ? n : 0;
	return 0;
}

/* What a round has. False: something else than accesses, or the same place twice. */
static bool take_items(struct rounds *r, const struct slot *slots)
{
	for (size_t i = 0; i < r->items; i++) {
		r->pc[i] = second_of(&slots[i]);
		r->what[i] = (uint16_t)first_of(&slots[i]);
		if (!is_plain_access(r->what[i], r->pc[i]))
			return false;
		for (size_t j = 0; j < i; j++)
			if (r->pc[i] == r->pc[j] && r->what[i] == r->what[j])
				return false;
	}
	return true;
}

/* As many rounds as there is room for: short ones would cost as much for themselves as for what is in them. */
static size_t repeat_items(struct rounds *r)
{
	size_t n = LOOP_ITEMS / r->items * r->items;

	for (size_t i = r->items; i < n; i++) {
		r->pc[i] = r->pc[i - r->items];
		r->what[i] = r->what[i - r->items];
	}
	return n;
}

/* Up to so many accesses, from the first of a round on. Returns how many there are. */
static inline size_t take_some(const struct rounds *r, const struct slot *slots, uint64_t *address, size_t most)
{
	for (size_t i = 0; i < most; i++) {
		uint64_t first = first_of(&slots[i]);

		if ((uint16_t)first != r->what[i] || second_of(&slots[i]) != r->pc[i])
			return i;
		address[i] = first >> 16;
	}
	return most;
}

size_t rounds_find(struct rounds *r, const struct slot *slots, size_t most)
{
	size_t done = 0, span;

	if (most < ROUNDS_LEAST)
		return 0;
	r->items = (uint32_t)period(slots, most);
	if (!r->items || !take_items(r, slots))
		return 0;
	span = repeat_items(r);
	while (done < most) {
		size_t n = most - done < span ? most - done : span, had = take_some(r, slots + done, r->address + done, n);

		done += had;
		if (had < n)
			break;
	}
	return done >= ROUNDS_LEAST && done >= ROUNDS_WHOLE * r->items ? done : 0;
}
