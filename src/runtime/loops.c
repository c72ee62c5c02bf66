/* SPDX-License-Identifier: MIT */
#include "loops.h"

#include <stddef.h>

#include "runtime/self.h"

enum {
	FEW = 16, /* accesses: a loop of no more was not worth it */
	NUMBERS = 255 << 16, /* of `at`: which loop it is */
	OFFSETS = (1 << 16) - 1,
	FIRST_ITEM = offsetof(struct self, loop) + offsetof(struct loop_self, item),
};

#define NOWHERE UINT64_MAX

static void set_bad(struct loop_self *l, uint64_t pc)
{
	l->bad[pc % LOOP_BAD] = pc;
}

/* In words: a memset would be one of the program's. */
void loops_forgive(struct self *s)
{
	for (unsigned i = 0; i < LOOP_BAD; i++)
		((volatile uint64_t *)s->loop.bad)[i] = 0;
}

void loops_reset(struct self *s)
{
	struct loop_self *l = &s->loop;

	l->at = l->last = l->back_pc = l->back_at = l->back_span = 0;
	l->slot = NOWHERE;
	l->items = l->making = 0;
	loops_forgive(s);
}

/* Ends. */

static uint64_t accesses(const struct loop_self *l, uint64_t at)
{
	return (at >> LOOP_ROUND_SHIFT) * l->items + ((at & OFFSETS) - FIRST_ITEM) / sizeof *l->item;
}

static void write_closed(struct self *s, uint64_t slot, uint64_t at)
{
	slot_write(s, slot, entry_first(ENTRY_LOOP, s->loop.items, LOOP_CLOSED), accesses(&s->loop, at));
}

static void close_loop(struct self *s, uint64_t at)
{
	struct loop_self *l = &s->loop;

	if (accesses(l, at) < FEW)
		set_bad(l, l->item[l->items - 1].pc);
	write_closed(s, l->slot, at);
}

/* A signal handler that comes up in here begins none of its own: what is known of this one stays until it is said. */
void loops_end(struct self *s)
{
	struct loop_self *l = &s->loop;
	uint64_t at = __atomic_load_n(&l->at, __ATOMIC_RELAXED);
	uint32_t making = l->making;

	if (!at)
		return;
	l->making = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	l->last = at;
	if (__atomic_compare_exchange_n(&l->at, &at, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		close_loop(s, at);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	l->making = making;
}

/* An open LOOP that nobody counts for any more: it was just being ended. */
void loops_mend(struct self *s)
{
	struct loop_self *l = &s->loop;

	loops_end(s);
	l->making = 0;
	if (l->slot != NOWHERE && ring_slot(s, l->slot)->word[0] == entry_first(ENTRY_LOOP, l->items, LOOP_OPEN))
		write_closed(s, l->slot, l->last);
}

/* Beginnings. */

/* Two rounds and the access after them, as they were put; and the round that is to come, with its kinds and sizes. */
struct rounds {
	size_t items;
	struct slot put[2 * LOOP_ITEMS + 1];
	struct loop_item item[LOOP_ITEMS];
	uint16_t what[LOOP_ITEMS];
};

/* Each word is read once: the collector may be about to take it. False: it has. */
static bool copy_rounds(struct self *s, uint64_t at, struct rounds *r)
{
	for (size_t i = 0; i <= 2 * r->items; i++) {
		const struct slot *from = ring_slot(s, at - (2 * r->items - i) * SLOT);

		r->put[i].word[0] = __atomic_load_n(&from->word[0], __ATOMIC_RELAXED);
		r->put[i].word[1] = __atomic_load_n(&from->word[1], __ATOMIC_RELAXED);
		if (!r->put[i].word[0])
			return false;
	}
	return true;
}

static bool is_plain_access(uint64_t first)
{
	uint8_t kind = (uint8_t)first;

	return (kind == ENTRY_READ || kind == ENTRY_WRITE) && first & 0xff00;
}

/* What comes after the two, if they are the same access but for the address. */
static bool item_after(const struct slot *a, const struct slot *b, struct loop_item *i)
{
	int64_t stride = (int64_t)(b->word[0] >> 16) - (int64_t)(a->word[0] >> 16);

	i->address = (b->word[0] >> 16) + (uint64_t)stride;
	i->stride = (uint64_t)stride;
	i->pc = b->word[1];
	return is_plain_access(a->word[0]) && (uint16_t)a->word[0] == (uint16_t)b->word[0] && a->word[1] == b->word[1] &&
	       stride == (int16_t)stride && !(b->word[1] >> ADDRESS_BITS);
}

/* The round that is to come begins behind the access that was put last, which is the first of its own. */
static bool find_round(struct rounds *r)
{
	const size_t n = r->items;
	struct loop_item before;

	for (size_t i = 0; i < n; i++) {
		if (!item_after(&r->put[1 + i], &r->put[1 + i + n], &r->item[i]))
			return false;
		r->what[i] = (uint16_t)r->put[1 + i + n].word[0];
	}
	return item_after(&r->put[0], &r->put[n], &before) && before.stride == r->item[n - 1].stride;
}

/* The last slot first. */
static void write_open(struct self *s, uint64_t at, const struct rounds *r)
{
	for (size_t i = r->items; i-- > 0;)
		slot_write(s, at + (1 + i) * SLOT,
			entry_first(ENTRY_ROUND | (unsigned)(uint8_t)r->what[i] << KIND_BITS, r->what[i] >> 8, r->item[i].address),
			entry_second(r->item[i].pc, (uint16_t)r->item[i].stride));
	slot_write(s, at, entry_first(ENTRY_LOOP, (unsigned)r->items, LOOP_OPEN), 0);
}

static void set_items(struct loop_self *l, const struct rounds *r)
{
	l->items = (uint32_t)r->items;
	for (size_t i = 0; i < r->items; i++) {
		l->item[i] = r->item[i];
		l->item[i].step = sizeof *l->item;
	}
	l->item[r->items - 1].step = ((uint64_t)1 << LOOP_ROUND_SHIFT) - (r->items - 1) * sizeof *l->item;
}

/* The limit goes first: whoever comes up from here on, and puts something, ends the loop or stands behind its slots. */
static void begin(struct self *s, const struct rounds *r)
{
	struct loop_self *l = &s->loop;
	uint64_t at, number = (l->last + (1 << 16)) & NUMBERS;

	if (!self_slots(s, 1 + r->items, &at))
		return;
	s->limit = 0;
	set_items(l, r);
	l->slot = at;
	l->last = number | FIRST_ITEM; /* who dies here has counted nothing of it */
	write_open(s, at, r);
	__atomic_store_n(&l->at, number | FIRST_ITEM, __ATOMIC_SEQ_CST);
	if (s->head != at + (1 + r->items) * SLOT)
		loops_end(s);
}

void loops_begin(struct self *s, uint64_t at)
{
	struct loop_self *l = &s->loop;
	struct rounds r;

	r.items = l->back_span / SLOT;
	if (l->making || l->at || !r.items || r.items > LOOP_ITEMS || at < 2 * l->back_span || !copy_rounds(s, at, &r))
		return;
	if (!find_round(&r)) {
		set_bad(l, l->back_pc);
		return;
	}
	l->making = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	begin(s, &r);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	l->making = 0;
	self_set_limit(s);
}
