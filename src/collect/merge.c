/* SPDX-License-Identifier: MIT */
#include "merge.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"

enum {
	KIND_MASK = (1 << KIND_BITS) - 1,
	BATCH = 4096,        /* slots of one ring in a row, so that none starves the others */
	TELL = RING_BYTES / 16, /* the producer is told of room in steps of this */
};

#define ADDRESS_MASK (((uint64_t)1 << ADDRESS_BITS) - 1)

void merge_init(struct merge *m, struct arena *a, struct channel *c, struct merge_listener to)
{
	*m = (struct merge){.channel = c, .to = to, .arena = a, .next = 1};
	seg_init(&m->rings, a, sizeof(struct ring));
}

static struct ring *ring_at(struct merge *m, uint32_t i)
{
	return seg_at(&m->rings, i, sizeof(struct ring));
}

static uint32_t ring_count(const struct merge *m)
{
	uint32_t n = __atomic_load_n(&m->channel->rings, __ATOMIC_ACQUIRE);

	return n < RINGS_MOST ? n : RINGS_MOST;
}

/* Slots. */

static uint64_t first_word(struct self *s, uint64_t at)
{
	return __atomic_load_n(&ring_slot(s, at)->word[0], __ATOMIC_ACQUIRE);
}

/* Lets the producer know of the room; wakes it if it sleeps for want of it. */
static void publish(struct ring *r, struct self *s)
{
	r->told = r->tail;
	__atomic_store_n(&s->tail, r->tail, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->tail_waited, __ATOMIC_SEQ_CST)) {
		__atomic_add_fetch(&s->tail_bell, 1, __ATOMIC_RELEASE);
		syscall(SYS_futex, &s->tail_bell, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

/* Empties the next n slots. */
static void consume(struct ring *r, struct self *s, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		__atomic_store_n(&ring_slot(s, r->tail + i * SLOT)->word[0], 0, __ATOMIC_RELAXED);
	r->tail += n * SLOT;
	if (r->tail - r->told >= TELL)
		publish(r, s);
}

/* How many slots the entry that starts with these words takes; 0 if that cannot be. */
static uint64_t slots_of(const struct slot *slot, uint8_t kind)
{
	uint16_t length = (uint16_t)(slot->word[1] >> ADDRESS_BITS);

	switch (kind) {
	case ENTRY_NONE: case ENTRY_TICKET: case ENTRY_PART:
		return 0;
	case ENTRY_READ_RANGE: case ENTRY_WRITE_RANGE: case ENTRY_PAST:
		return 2;
	case ENTRY_BEGIN: case ENTRY_END: case ENTRY_NAME: case ENTRY_MODULE:
		return length <= TEXT_MOST ? 1 + (length + 7u) / 8 : 0;
	default:
		return kind >= ENTRY_KINDS ? 0 : entry_is_sync(kind) ? 2 : 1;
	}
}

static void take_text(struct merge *m, struct self *s, uint64_t at, struct entry *e)
{
	for (uint64_t i = 0; i * 8 < e->extra; i++)
		memcpy(m->text + i * 8, &ring_slot(s, at + (1 + i) * SLOT)->word[1], 8);
	m->text[e->extra] = 0;
	e->text = m->text;
}

static struct entry take(struct merge *m, struct self *s, uint64_t at, uint64_t slots)
{
	const struct slot *slot = ring_slot(s, at);
	struct entry e = {
		.kind = slot->word[0] & KIND_MASK, .stream = (uint8_t)slot->word[0] >> KIND_BITS, .small = (uint8_t)(slot->word[0] >> 8), .address = slot->word[0] >> 16,
		.extra = (uint16_t)(slot->word[1] >> ADDRESS_BITS), .pc = slot->word[1] & ADDRESS_MASK,
		.second = slot->word[1],
	};

	if (slots == 2 && !(e.kind >= ENTRY_BEGIN && e.kind <= ENTRY_MODULE)) {
		e.ticket = ring_slot(s, at + SLOT)->word[0] >> 16;
		e.argument = ring_slot(s, at + SLOT)->word[1];
	}
	if (e.kind >= ENTRY_BEGIN && e.kind <= ENTRY_MODULE)
		take_text(m, s, at, &e);
	return e;
}

/* Rings. */

static void ring_begin(struct merge *m, uint32_t i, struct ring *r, struct self *s)
{
	r->open = true;
	r->process = s->process;
	r->thread = s->thread;
	r->pid = s->pid;
	m->to.begin(m->to.self, i, s);
}

static void abandon(struct merge *m, struct ring *r)
{
	r->insane = true;
	m->insane++;
}

enum outcome { NOTHING, BLOCKED, TAKEN };

/* The next entry of the ring, if it is complete and it is its turn. */
static enum outcome step(struct merge *m, uint32_t i, struct ring *r, struct self *s)
{
	uint64_t first = first_word(s, r->tail), slots;
	struct entry e;

	if (!first)
		return NOTHING;
	if (!r->open)
		ring_begin(m, i, r, s);
	slots = slots_of(ring_slot(s, r->tail), first & KIND_MASK);
	if (!slots) {
		abandon(m, r);
		return NOTHING;
	}
	/* The slots of one entry are written last to first: when the first is there, all are. */
	e = take(m, s, r->tail, slots);
	if (entry_is_sync(e.kind)) {
		r->blocked = e.ticket;
		if (e.ticket > m->next)
			return BLOCKED;
		/* A smaller one was given up too early: it comes late, and is better than nothing. */
		m->next += e.ticket == m->next;
		r->blocked = 0;
	}
	consume(r, s, slots);
	m->entries++;
	m->to.entry(m->to.self, i, &e);
	return TAKEN;
}

/* The thread has ended, or its process has, and there is nothing left of it: the ring is free for another. */
static void ring_finish(struct merge *m, uint32_t i, struct ring *r, struct self *s)
{
	uint64_t head = __atomic_load_n(&s->head, __ATOMIC_ACQUIRE);

	if (r->open)
		m->to.finish(m->to.self, i);
	/* Slots that a killed thread left half-written would greet the next one. */
	memset((char *)s + CHANNEL_PAGE, 0, head == r->tail ? 0 : RING_BYTES);
	__atomic_store_n(&s->tail, head, __ATOMIC_RELAXED);
	*r = (struct ring){.tail = head, .told = head};
	__atomic_store_n(&s->state, RING_FREE, __ATOMIC_RELEASE);
}

static bool ring_is_over(const struct ring *r, uint32_t state)
{
	return state == RING_LEFT || (state == RING_USED && r->dead) || (r->insane && r->dead);
}

static bool drain(struct merge *m, uint32_t i)
{
	struct self *s = channel_ring(m->channel, i);
	struct ring *r = ring_at(m, i);
	uint32_t state = __atomic_load_n(&s->state, __ATOMIC_ACQUIRE);
	enum outcome o = NOTHING;
	bool any = false;

	if (state == RING_FREE)
		return false;
	for (unsigned n = 0; n < BATCH && !r->insane && (o = step(m, i, r, s)) == TAKEN; n++)
		any = true;
	if (r->insane)
		r->tail = __atomic_load_n(&s->head, __ATOMIC_ACQUIRE);
	if (r->tail != r->told)
		publish(r, s);
	if (!any && o == NOTHING && ring_is_over(r, state)) {
		ring_finish(m, i, r, s);
		any = true;
	}
	return any;
}

bool merge_step(struct merge *m)
{
	uint32_t n = ring_count(m);
	bool any = false;

	for (uint32_t i = 0; i < n; i++)
		any |= drain(m, i);
	return any;
}

void merge_dead(struct merge *m, int pid)
{
	for (uint32_t i = 0; i < ring_count(m); i++)
		if (__atomic_load_n(&channel_ring(m->channel, i)->pid, __ATOMIC_RELAXED) == pid)
			ring_at(m, i)->dead = true;
}

int merge_living(struct merge *m, uint32_t *from)
{
	for (; *from < ring_count(m); ++*from) {
		struct self *s = channel_ring(m->channel, *from);

		if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == RING_USED && !ring_at(m, *from)->dead && s->pid)
			return channel_ring(m->channel, (*from)++)->pid;
	}
	return 0;
}

/* Whether an entry may still come that takes the missing ticket: some living ring has a slot in the making. */
static bool in_the_making(struct merge *m)
{
	for (uint32_t i = 0; i < ring_count(m); i++) {
		struct self *s = channel_ring(m->channel, i);
		struct ring *r = ring_at(m, i);

		if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == RING_USED && !r->dead && !r->insane && !r->blocked)
			if (!r->open || __atomic_load_n(&s->head, __ATOMIC_ACQUIRE) != r->tail)
				return true;
	}
	return false;
}

static uint64_t least_blocked(struct merge *m)
{
	uint64_t least = 0;

	for (uint32_t i = 0; i < ring_count(m); i++) {
		const struct ring *r = ring_at(m, i);

		if (r->blocked && (!least || r->blocked < least))
			least = r->blocked;
	}
	return least;
}

bool merge_unblock(struct merge *m)
{
	uint64_t least = least_blocked(m);

	if (!least || least <= m->next || in_the_making(m))
		return false;
	m->given_up += least - m->next;
	m->next = least;
	return true;
}

void merge_end(struct merge *m)
{
	for (uint32_t i = 0; i < ring_count(m); i++)
		ring_at(m, i)->dead = true;
	do
		while (merge_step(m))
			;
	while (merge_unblock(m));
}
