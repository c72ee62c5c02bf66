/* SPDX-License-Identifier: MIT */
#include "merge.h"

#include <linux/futex.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"

enum {
	KIND_MASK = (1 << KIND_BITS) - 1,
	BATCH = 4096,           /* entries of one ring in a row, so that none starves the others */
	ROW = 512,              /* of them, those that are handed on at once: they are emptied while they are near */
	CHAIN = 1024,           /* turns in a row, before all rings are looked at again */
	TELL = RING_BYTES / 16, /* the producer is told of room in steps of this */
	WAKE = RING_BYTES / 2,  /* and woken when no more than this is left, or nothing more can be had */
	OWING_KEPT = 6,         /* places in the list of those that owe, which stay when nothing is owed */
};

#define LOOP_MOST ((uint64_t)LOOP_ITEMS << (64 - LOOP_ROUND_SHIFT)) /* accesses */
#define ADDRESS_MASK (((uint64_t)1 << ADDRESS_BITS) - 1)

void merge_init(struct merge *m, struct arena *a, struct channel *c, struct merge_listener to)
{
	*m = (struct merge){.channel = c, .to = to, .arena = a, .next = 1, .last = UINT64_MAX};
	m->unlocks = c->mode & MODE_TIMED && !(c->mode & MODE_STOCK);
	m->pairs = m->unlocks && to.pairs;
	m->loops = !c->mode;
	m->most = (uint32_t)((c->bytes - CHANNEL_PAGE) / RING_SPAN);
	seg_init(&m->rings, a, sizeof(struct ring));
}

static struct ring *ring_at(struct merge *m, uint32_t i)
{
	return seg_at(&m->rings, i, sizeof(struct ring));
}

static uint32_t ring_count(const struct merge *m)
{
	uint32_t n = __atomic_load_n(&m->channel->rings, __ATOMIC_ACQUIRE);

	return n < m->most ? n : m->most;
}

/* Slots. */

static uint64_t first_word(struct self *s, uint64_t at)
{
	return __atomic_load_n(&ring_slot(s, at)->word[0], __ATOMIC_ACQUIRE);
}

static void wipe(struct self *s, uint64_t at)
{
	__atomic_store_n(&ring_slot(s, at)->word[0], 0, __ATOMIC_RELEASE);
}

/* Where the producer has got to, as far as that can be. */
static uint64_t head_of(const struct ring *r, struct self *s)
{
	uint64_t head = __atomic_load_n(&s->head, __ATOMIC_ACQUIRE) & ~(uint64_t)(SLOT - 1);

	return head - r->tail > RING_BYTES ? r->tail + RING_BYTES : head;
}

/*
 * Lets the producer know of the room; wakes it if it sleeps for want of it, and there is enough to be worth that: a thread
 * that is woken for each sixteenth does little else but fall asleep.
 */
static __attribute__((noinline)) void publish(struct ring *r, struct self *s, uint64_t left)
{
	r->told = r->tail;
	__atomic_store_n(&s->tail, r->tail, __ATOMIC_SEQ_CST);
	if (head_of(r, s) - r->tail <= left && __atomic_load_n(&s->tail_waited, __ATOMIC_SEQ_CST)) {
		__atomic_add_fetch(&s->tail_bell, 1, __ATOMIC_RELEASE);
		syscall(SYS_futex, &s->tail_bell, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

/* The next slots are about to be emptied. */
static inline void take_slots(struct ring *r, struct self *s, uint64_t n)
{
	__atomic_store_n(&s->taken, r->tail + n * SLOT, __ATOMIC_RELAXED);
}

/* They are. */
static inline void slots_taken(struct ring *r, struct self *s, uint64_t n)
{
	r->tail += n * SLOT;
	if (__builtin_expect(r->tail - r->told >= TELL, 0))
		publish(r, s, WAKE);
}

/* Empties the next n slots. */
static inline __attribute__((always_inline)) void consume(struct ring *r, struct self *s, uint64_t n)
{
	take_slots(r, s, n);
	for (uint64_t i = 0; i < n; i++)
		wipe(s, r->tail + i * SLOT);
	slots_taken(r, s, n);
}

/* The same for many, which lie beside each other. Second words stay: hooks look at that of the slot before (loops.h). */
static void consume_row(struct ring *r, struct self *s, uint64_t n)
{
	struct slot *at = ring_slot(s, r->tail), *end = at + n;

	take_slots(r, s, n);
	for (; end - at >= 4; at += 4) {
		__atomic_store_n(&at[0].word[0], 0, __ATOMIC_RELEASE);
		__atomic_store_n(&at[1].word[0], 0, __ATOMIC_RELEASE);
		__atomic_store_n(&at[2].word[0], 0, __ATOMIC_RELEASE);
		__atomic_store_n(&at[3].word[0], 0, __ATOMIC_RELEASE);
	}
	for (; at < end; at++)
		__atomic_store_n(&at->word[0], 0, __ATOMIC_RELEASE);
	slots_taken(r, s, n);
}

static bool has_text(uint8_t kind)
{
	return kind >= ENTRY_BEGIN && kind <= ENTRY_MODULE;
}

/* Entries with a size behind them. */
static bool is_range(uint8_t kind)
{
	return kind == ENTRY_READ_RANGE || kind == ENTRY_WRITE_RANGE;
}

/* Entries of one slot. */
static inline bool is_short(uint8_t kind)
{
	const uint64_t longer = (uint64_t)1 << ENTRY_NONE | (uint64_t)1 << ENTRY_READ_RANGE | (uint64_t)1 << ENTRY_WRITE_RANGE |
		(uint64_t)1 << ENTRY_PAST | (uint64_t)1 << ENTRY_LOOP | ~(((uint64_t)1 << ENTRY_BEGIN) - 1);

	return !(longer >> kind & 1);
}

/* How many slots a longer entry takes; 0 if that cannot be. */
static uint64_t slots_of(uint8_t kind, uint64_t second)
{
	uint64_t length = second >> ADDRESS_BITS;

	if (has_text(kind))
		return length <= TEXT_MOST ? 1 + (length + 7) / 8 : 0;
	return is_range(kind) ? 2 : 0;
}

/* A name with a control character can stand in no trace. */
static char visible(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f ? '?' : c;
}

static void take_text(struct merge *m, struct self *s, uint64_t at, struct entry *e)
{
	for (uint64_t i = 0; i * 8 < e->extra; i++)
		memcpy(m->text + i * 8, &ring_slot(s, at + (1 + i) * SLOT)->word[1], 8);
	for (uint64_t i = 0; i < e->extra; i++)
		m->text[i] = visible(m->text[i]);
	m->text[e->extra] = 0;
	e->text = m->text;
}

/* Field by field: a struct that is put together and then copied costs more than all the rest. */
static inline void unpack(struct entry *e, uint64_t first, uint64_t second)
{
	e->kind = first & KIND_MASK;
	e->stream = (uint8_t)first >> KIND_BITS;
	e->small = (uint8_t)(first >> 8);
	e->extra = (uint16_t)(second >> ADDRESS_BITS);
	e->address = first >> 16;
	e->pc = second & ADDRESS_MASK;
	e->second = second;
	e->unlocked = false;
}

/* Turns. */

static void turn_note(struct merge *m, uint64_t ticket, uint32_t ring)
{
	m->turn[ticket % MERGE_TURNS] = (struct turn){ticket, ring};
}

/* Whether the ring is known whose turn it is. */
static bool turn_known(const struct merge *m, uint32_t *ring)
{
	const struct turn *t = &m->turn[m->next % MERGE_TURNS];

	*ring = t->ring;
	return t->ticket == m->next;
}

/* Rings. */

static void ring_open(struct merge *m, uint32_t i, struct ring *r, struct self *s)
{
	r->open = true;
	m->to.begin(m->to.self, i, s);
}

static void abandon(struct merge *m, struct ring *r)
{
	r->insane = true;
	r->blocked = r->until = 0;
	r->asides = 0;
	m->insane++;
}

enum outcome { NOTHING, BLOCKED, TAKEN };

/*
 * Whether nobody can have taken the ticket. The counter is looked at when what is known of it does not do: whoever
 * takes the next one has to wait for the line that it is in.
 */
static inline bool is_beyond(struct merge *m, uint64_t ticket)
{
	if (ticket > m->taken)
		m->taken = __atomic_load_n(&m->channel->ticket, __ATOMIC_ACQUIRE);
	return ticket > m->taken;
}

/*
 * Whether the entry has its turn. Tickets are given out by a counter: none can be beyond it. A smaller one than the
 * next was given up too early; it comes late, which is better than never.
 */
static inline enum outcome turn(struct merge *m, uint32_t i, struct ring *r, uint64_t ticket)
{
	if (ticket > m->next || ticket > m->last) {
		if (is_beyond(m, ticket)) {
			abandon(m, r);
			return NOTHING;
		}
		r->blocked = ticket;
		turn_note(m, ticket, i);
		return BLOCKED;
	}
	m->late += ticket < m->next;
	m->next += ticket == m->next;
	r->blocked = 0;
	r->until = ticket == r->until ? 0 : r->until;
	return TAKEN;
}

/* Whether its thread may have released a lock without a ticket. */
static inline bool owes(const struct merge *m, const struct ring *r)
{
	return r->owes && m->owing[r->owes - 1].lock;
}

static void catch_up_one(struct merge *m, uint32_t i);

/* Of the thread that made an access of the past: its last ticket before that. */
static inline uint64_t ticket_of_past(uint64_t second)
{
	return (second >> 8 & (((uint64_t)1 << TIME_BITS) - 1)) >> TICK_BITS;
}

/*
 * Whether the thread that made an access of the past is known to have got there: its access races with the caller's, so
 * nothing else orders them. Its ticket was complete when the access was seen, and waits for none behind this entry; what
 * it has released since without one stands before it, too.
 */
static inline bool is_reached(struct merge *m, uint32_t i, struct ring *r, uint64_t second)
{
	uint64_t ticket = ticket_of_past(second);
	uint32_t of = (uint32_t)(second >> (8 + TIME_BITS));

	if (ticket >= m->next && ticket <= m->last && !is_beyond(m, ticket))
		return false;
	r->blocked = 0;
	if (of != i && of < ring_count(m) && owes(m, ring_at(m, of)))
		catch_up_one(m, of);
	return true;
}

/* Trails. */

/* As publish(), of the trail. */
static void trail_publish(const struct ring *r, struct self *s, uint64_t left)
{
	uint64_t made = trail_position(s, __atomic_load_n(&s->trail_at, __ATOMIC_RELAXED)) - r->trail;

	__atomic_store_n(&s->trail_tail, r->trail, __ATOMIC_SEQ_CST);
	if (made <= left && __atomic_load_n(&s->trail_waited, __ATOMIC_SEQ_CST)) {
		__atomic_add_fetch(&s->tail_bell, 1, __ATOMIC_RELEASE);
		syscall(SYS_futex, &s->tail_bell, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

/* Up to there; a signal handler may have told of more before. */
static void take_trail(struct merge *m, uint32_t i, struct ring *r, uint64_t to, uint64_t count)
{
	struct self *s = channel_ring(m->channel, i);
	uint64_t before = r->trail / TRAIL_PART;

	if (to - r->trail > TRAIL_BYTES) {
		if (r->trail - to > TRAIL_BYTES)
			abandon(m, r);
		return;
	}
	while (r->trail != to) {
		uint64_t end = (r->trail / TRAIL_BYTES + 1) * TRAIL_BYTES, n = (to < end ? to : end) - r->trail;

		m->to.trail(m->to.self, i, ring_trail(s, r->trail), n);
		r->trail += n;
	}
	if (count && count <= UINT32_MAX)
		m->to.trail_count(m->to.self, i, (uint32_t)count);
	if (r->trail / TRAIL_PART != before)
		trail_publish(r, s, TRAIL_BYTES / 2);
}

/* What its thread has not told any more. */
static void take_trail_rest(struct merge *m, uint32_t i, struct ring *r, struct self *s)
{
	uint64_t at = __atomic_load_n(&s->trail_at, __ATOMIC_ACQUIRE);

	if (s->trails && (uint32_t)at - TRAIL_AT <= TRAIL_BYTES)
		take_trail(m, i, r, trail_position(s, at), trail_counted(at));
}

/* Loops. */

/* How many accesses the thread has counted before it died; it may have been about to say so. */
static uint64_t counted(struct self *s, unsigned items)
{
	uint64_t at = __atomic_load_n(&s->loop.at, __ATOMIC_ACQUIRE);
	uint64_t item = offsetof(struct self, loop) + offsetof(struct loop_self, item);

	at = at ? at : s->loop.last;
	item = ((at & 0xffff) - item) / sizeof(struct loop_item);
	return item < items ? (at >> LOOP_ROUND_SHIFT) * items + item : 0;
}

static bool is_open_loop(const struct merge *m, uint64_t first)
{
	return m->loops && (uint8_t)first == ENTRY_LOOP && first >> 16 == LOOP_OPEN;
}

/* The items. False: some are none. */
static bool take_rounds(struct merge *m, const struct ring *r, struct self *s, unsigned items)
{
	for (unsigned i = 0; i < items; i++) {
		struct slot *to = &m->round[i];

		to->word[0] = first_word(s, r->tail + (1 + i) * SLOT);
		to->word[1] = ring_slot(s, r->tail + (1 + i) * SLOT)->word[1];
		if ((to->word[0] & KIND_MASK) != ENTRY_ROUND || !(to->word[0] & 0xff00) ||
			((to->word[0] >> KIND_BITS & 3) != ENTRY_READ && (to->word[0] >> KIND_BITS & 3) != ENTRY_WRITE))
			return false;
	}
	return true;
}

/* One that is open stays where it is, as long as its thread lives. */
static enum outcome step_loop(struct merge *m, struct ring *r, struct self *s, struct entry *e)
{
	bool open = e->address == LOOP_OPEN;

	if (m->loops && open && !r->dead)
		return NOTHING;
	e->argument = open ? counted(s, e->small) : e->second;
	if (!m->loops || (!open && e->address != LOOP_CLOSED) || e->small == 0 || e->small > LOOP_ITEMS ||
		e->argument > LOOP_MOST || !take_rounds(m, r, s, e->small)) {
		abandon(m, r);
		return NOTHING;
	}
	e->round = m->round;
	consume(r, s, 1 + (uint64_t)e->small);
	return TAKEN;
}

/* Entries of more than one slot. The slots are written last to first: when the first is there, all are. */
static enum outcome step_long(struct merge *m, struct ring *r, struct self *s, struct entry *e)
{
	uint64_t slots = slots_of(e->kind, e->second);

	if (e->kind == ENTRY_LOOP)
		return step_loop(m, r, s, e);
	if (!slots || (!has_text(e->kind) && (uint8_t)first_word(s, r->tail + SLOT) != ENTRY_SIZE)) {
		abandon(m, r);
		return NOTHING;
	}
	if (has_text(e->kind)) {
		take_text(m, s, r->tail, e);
	} else {
		e->argument = ring_slot(s, r->tail + SLOT)->word[1];
	}
	consume(r, s, slots);
	return TAKEN;
}

/* An access of the past. */
static inline enum outcome step_past(struct merge *m, uint32_t i, struct ring *r, struct self *s, struct entry *e)
{
	if ((uint8_t)first_word(s, r->tail + SLOT) != ENTRY_SIZE) {
		abandon(m, r);
		return NOTHING;
	}
	e->argument = ring_slot(s, r->tail + SLOT)->word[1];
	if (!is_reached(m, i, r, e->second)) {
		r->blocked = ticket_of_past(e->second) + 1;
		turn_note(m, r->blocked, i);
		return BLOCKED;
	}
	consume(r, s, 2);
	return TAKEN;
}

static void catch_up(struct merge *m, uint32_t but, uint64_t lock);

/* Whether it may come behind a release of what it is about. */
static inline bool follows_release(uint8_t kind)
{
	return kind == ENTRY_ACQUIRE || kind == ENTRY_ACQUIRE_SHARED || kind == ENTRY_WOKEN || kind == ENTRY_MAKE ||
	       kind == ENTRY_BREAK;
}

/* Before an entry that may come behind a release without a ticket, if it is its turn. */
static inline void catch_up_for(struct merge *m, uint32_t i, const struct entry *e)
{
	if (m->owings && follows_release(e->kind) && e->ticket <= m->next)
		catch_up(m, i, e->kind == ENTRY_WOKEN ? e->argument : e->address);
}

/*
 * Whether the release of the lock comes right behind its acquire: then nothing is ever owed for it, and both are one
 * entry, for whoever takes them so.
 */
static inline bool has_unlock(const struct slot *next, struct entry *e)
{
	uint64_t first = __atomic_load_n(&next->word[0], __ATOMIC_ACQUIRE);

	if ((uint8_t)first != ENTRY_UNLOCK || first >> 16 != e->address || e->stream)
		return false;
	e->unlocked = true;
	e->unlock_small = (uint8_t)(first >> 8);
	e->unlock = next->word[1];
	return true;
}

/* What the second slot says. */
static inline void unpack_ticket(struct entry *e, uint64_t first, uint64_t second)
{
	e->ticket = first >> 16;
	e->behind = (uint8_t)(first >> 8);
	e->argument = second;
}

/* The same for synchronisation, whose second slot has its ticket. */
static inline __attribute__((always_inline)) enum outcome step_sync(struct merge *m, uint32_t i, struct ring *r,
	struct self *s, struct entry *e)
{
	uint64_t second = first_word(s, r->tail + SLOT);

	if ((uint8_t)second != ENTRY_TICKET) {
		abandon(m, r);
		return NOTHING;
	}
	unpack_ticket(e, second, ring_slot(s, r->tail + SLOT)->word[1]);
	catch_up_for(m, i, e);
	if (turn(m, i, r, e->ticket) != TAKEN)
		return r->blocked ? BLOCKED : NOTHING;
	if (e->kind == ENTRY_ACQUIRE && m->pairs && has_unlock(ring_slot(s, r->tail + 2 * SLOT), e)) {
		m->entries++;
		consume(r, s, 3);
	} else {
		consume(r, s, 2);
	}
	return TAKEN;
}

/* The entry that was laid aside last. */
static enum outcome step_aside(struct merge *m, uint32_t i, struct ring *r, struct entry *e)
{
	*e = r->aside[r->asides - 1];
	catch_up_for(m, i, e);
	if (turn(m, i, r, e->ticket) != TAKEN)
		return BLOCKED;
	r->asides--;
	return TAKEN;
}

/* The next entry in its slots. */
static inline __attribute__((always_inline)) enum outcome step_slots(struct merge *m, uint32_t i, struct ring *r,
	struct self *s, struct entry *e)
{
	uint64_t first = first_word(s, r->tail);

	if (!first)
		return NOTHING;
	unpack(e, first, ring_slot(s, r->tail)->word[1]);
	if (entry_is_sync(e->kind))
		return step_sync(m, i, r, s, e);
	if (!is_short(e->kind))
		return e->kind == ENTRY_PAST ? step_past(m, i, r, s, e) : step_long(m, r, s, e);
	consume(r, s, 1);
	return TAKEN;
}

/* Releases without tickets. */

/* The ring's place in the list. Whoever locks once locks again: it keeps it, with no lock while nothing is owed. */
static __attribute__((noinline)) struct owing *owing_new(struct merge *m, uint32_t i, struct ring *r)
{
	m->owing = arena_reserve(m->arena, m->owing, &m->owing_capacity, m->owings, sizeof *m->owing);
	r->owes = (uint32_t)++m->owings;
	m->owing[r->owes - 1].ring = i;
	return &m->owing[r->owes - 1];
}

static inline void owe(struct merge *m, uint32_t i, struct ring *r, const struct entry *e)
{
	struct owing *o = __builtin_expect(r->owes, 1) ? &m->owing[r->owes - 1] : owing_new(m, i, r);

	o->lock = e->address;
	o->ticket = e->ticket;
}

/* The place goes to the last in the list. */
static void owing_drop(struct merge *m, struct ring *r)
{
	struct owing last = m->owing[--m->owings];

	m->owing[r->owes - 1] = last;
	ring_at(m, last.ring)->owes = r->owes;
	r->owes = 0;
}

/* A ticket that comes late is not the thread's last one. */
static inline void owe_by(struct merge *m, uint32_t i, struct ring *r, const struct entry *e)
{
	if (e->kind == ENTRY_ACQUIRE && !e->unlocked)
		owe(m, i, r, e);
	else if (r->owes && (e->kind == ENTRY_UNLOCK || (entry_is_sync(e->kind) && e->ticket > m->owing[r->owes - 1].ticket)))
		m->owing[r->owes - 1].lock = 0;
}

/* Rows. */

/* What has no turn yet, or makes no sense, is left to step(). So is all of a ring that has laid something aside. */
size_t merge_row_sync(struct merge_row *row, size_t n, uint64_t first, struct entry *e)
{
	struct merge *m = row->merge;
	const struct slot *at = row->slots + n;
	uint64_t second;

	if (row->most - n < 2 || row->of->asides)
		return 0;
	second = __atomic_load_n(&at[1].word[0], __ATOMIC_ACQUIRE);
	if ((uint8_t)second != ENTRY_TICKET || second >> 16 > m->next || second >> 16 > m->last)
		return 0;
	unpack(e, first, at[0].word[1]);
	unpack_ticket(e, second, at[1].word[1]);
	catch_up_for(m, row->ring, e);
	turn(m, row->ring, row->of, e->ticket);
	row->joined++;
	n = e->kind == ENTRY_ACQUIRE && m->pairs && row->most - n > 2 && has_unlock(at + 2, e) ? 3 : 2;
	if (m->unlocks)
		owe_by(m, row->ring, row->of, e);
	return n;
}

size_t merge_row_past(struct merge_row *row, size_t n, uint64_t first, struct entry *e)
{
	const struct slot *at = row->slots + n;
	uint64_t second = at[0].word[1];

	if (row->most - n < 2 || (uint8_t)__atomic_load_n(&at[1].word[0], __ATOMIC_ACQUIRE) != ENTRY_SIZE ||
		!is_reached(row->merge, row->ring, row->of, second))
		return 0;
	unpack(e, first, second);
	e->argument = at[1].word[1];
	row->joined++;
	return 2;
}

void merge_row_unlock(struct merge_row *row)
{
	if (row->merge->unlocks && row->of->owes)
		row->merge->owing[row->of->owes - 1].lock = 0;
}

/* As many entries as whoever takes them can have at once; no more than `most` slots. */
static size_t step_row(struct merge *m, uint32_t i, struct ring *r, struct self *s, size_t most)
{
	size_t to_end = (RING_BYTES - (r->tail & (RING_BYTES - 1))) / SLOT, n = most < ROW ? most : ROW;
	struct merge_row row = {m, r, i, ring_slot(s, r->tail), n < to_end ? n : to_end, 0};

	if (!(m->to.row_kinds >> (row.slots->word[0] & KIND_MASK) & 1) || !r->open || (r->asides && !r->until))
		return 0;
	n = m->to.row(m->to.self, &row);
	if (!n)
		return 0;
	consume_row(r, s, n);
	m->entries += n - row.joined;
	return n;
}

/* The next entry of the ring, if it is complete and it is its turn. */
static inline __attribute__((always_inline)) enum outcome step(struct merge *m, uint32_t i, struct ring *r,
	struct self *s, struct entry *e)
{
	bool aside = __builtin_expect(r->asides && !r->until, 0);
	enum outcome o = aside ? step_aside(m, i, r, e) : step_slots(m, i, r, s, e);

	if (o != TAKEN)
		return o;
	if (!r->open)
		ring_open(m, i, r, s);
	m->entries++;
	if (m->unlocks)
		owe_by(m, i, r, e);
	if (__builtin_expect(e->kind == ENTRY_TRAIL && m->to.trail, 0))
		take_trail(m, i, r, e->address, e->second);
	else
		m->to.entry(m->to.self, i, e);
	return TAKEN;
}

static bool has_ticket_next(const struct ring *r, struct self *s)
{
	return (r->asides && !r->until) || entry_is_sync(first_word(s, r->tail) & KIND_MASK);
}

/*
 * Takes what the ring has until it owes nothing, or until a ticket: another lock, before which others would have to be
 * looked at. Not in the midst of itself: accesses of the past, each of the other's, would make two rings wait for each
 * other.
 */
static void catch_up_one(struct merge *m, uint32_t i)
{
	struct self *s = channel_ring(m->channel, i);
	struct ring *r = ring_at(m, i);
	uint64_t made = head_of(r, s) - r->tail, from = r->tail;
	struct entry e = {0};

	if (m->catching_up)
		return;
	m->catching_up = true;
	while (owes(m, r) && !r->insane && r->tail - from < made && !has_ticket_next(r, s))
		if (step(m, i, r, s, &e) != TAKEN)
			break;
	m->catching_up = false;
}

/*
 * The rings that may have released the lock without a ticket. Of a long list, those that owe nothing leave their places:
 * whoever is there now was looked at before.
 */
static void catch_up(struct merge *m, uint32_t but, uint64_t lock)
{
	for (size_t n = m->owings; n-- > 0;) {
		const struct owing *o = &m->owing[n];

		if (o->lock == lock && o->ring != but)
			catch_up_one(m, o->ring);
		else if (!o->lock && m->owings > OWING_KEPT)
			owing_drop(m, ring_at(m, o->ring));
	}
}

/* Holes. */

/* What a hook has written late into slots that were skipped must not greet those who come there next. */
static void wipe_hole(struct ring *r, struct self *s)
{
	if (__atomic_load_n(&s->head, __ATOMIC_ACQUIRE) - r->hole > RING_BYTES)
		r->hole_end = r->hole;
	for (uint64_t at = r->hole; at != r->hole_end; at += SLOT)
		if (first_word(s, at))
			wipe(s, at);
}

/* Whether an entry may begin here; what belongs to the one before does not. */
static bool is_start(uint64_t first)
{
	uint8_t kind = first & KIND_MASK;

	return kind != ENTRY_NONE && kind != ENTRY_SIZE && kind != ENTRY_PART && kind != ENTRY_TICKET && kind != ENTRY_ROUND;
}

/* The first entry behind slots that are empty, or belong to an entry whose first one is. False: there is none. */
static bool hole_skip(struct merge *m, struct ring *r, struct self *s)
{
	uint64_t head = head_of(r, s), at = r->tail;

	while (at != head && !is_start(first_word(s, at)))
		at += SLOT;
	if (at == head || at == r->tail)
		return false;
	r->hole = r->tail;
	r->hole_end = at;
	consume(r, s, (at - r->tail) / SLOT);
	m->skipped++;
	return true;
}

/* Tickets out of order. */

/*
 * Whether the ticket whose turn it is stands in the ring behind the one that it waits with. What a handler has taken
 * is smaller than that; behind the first greater one there is nothing more of it.
 */
static bool has_next_behind(struct merge *m, const struct ring *r, struct self *s)
{
	uint64_t at = r->tail + (r->asides && !r->until ? 0 : 2 * SLOT), made = head_of(r, s) - r->tail, first;

	for (; at - r->tail < made && (first = first_word(s, at)); at += SLOT) {
		if ((first & KIND_MASK) != ENTRY_TICKET)
			continue;
		if (first >> 16 == m->next || first >> 16 > r->blocked)
			return first >> 16 == m->next;
	}
	return false;
}

/*
 * The entry at the ring's tail waits for its turn. False: it is none that has one, or a program has spoiled it since it
 * was looked at.
 */
static bool lay_aside(struct merge *m, struct ring *r, struct self *s)
{
	struct entry e = {.ticket = r->blocked, .argument = ring_slot(s, r->tail + SLOT)->word[1],
		.behind = (uint8_t)(first_word(s, r->tail + SLOT) >> 8)};

	unpack(&e, first_word(s, r->tail), ring_slot(s, r->tail)->word[1]);
	if (!entry_is_sync(e.kind))
		return false;
	r->aside = arena_reserve(m->arena, r->aside, &r->aside_capacity, r->asides, sizeof *r->aside);
	r->aside[r->asides++] = e;
	consume(r, s, 2);
	return true;
}

/* Lets the ring go on to the ticket whose turn it is, if it has that. */
static bool pass(struct merge *m, struct ring *r, struct self *s)
{
	uint64_t next = m->next;

	if (r->blocked <= next || r->insane || !has_next_behind(m, r, s))
		return false;
	if ((!r->asides || r->until) && !lay_aside(m, r, s))
		return false;
	r->until = next;
	r->blocked = 0;
	return true;
}

static bool pass_any(struct merge *m)
{
	for (uint32_t i = 0; i < ring_count(m); i++)
		if (pass(m, ring_at(m, i), channel_ring(m->channel, i)))
			return true;
	return false;
}

/* The thread has ended, or its process has, and there is nothing left of it: the ring is free for another. */
static void ring_finish(struct merge *m, uint32_t i, struct ring *r, struct self *s)
{
	uint64_t head = __atomic_load_n(&s->head, __ATOMIC_ACQUIRE);

	if (r->open && m->to.trail && !r->insane)
		take_trail_rest(m, i, r, s);
	if (r->open)
		m->to.finish(m->to.self, i);
	if (r->owes)
		owing_drop(m, r);
	/* Slots that a killed thread left half-written would greet the next one. */
	if (head != r->tail || r->hole != r->hole_end)
		memset((char *)s + CHANNEL_PAGE, 0, RING_BYTES);
	*r = (struct ring){.tail = r->tail, .told = r->tail, .trail = r->trail, .aside = r->aside,
		.aside_capacity = r->aside_capacity};
	__atomic_store_n(&s->tail, r->tail, __ATOMIC_RELAXED);
	__atomic_store_n(&s->trail_tail, r->trail, __ATOMIC_RELAXED);
	__atomic_store_n(&s->pid, 0, __ATOMIC_RELAXED); /* the next one may not have said yet who it is */
	__atomic_store_n(&s->tid, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&s->state, RING_FREE, __ATOMIC_RELEASE);
}

/* A ring that makes no sense is kept from filling up, and its thread from waiting. */
static void ring_ignore(struct ring *r, struct self *s)
{
	r->tail = __atomic_load_n(&s->head, __ATOMIC_ACQUIRE) & ~(uint64_t)(SLOT - 1);
	r->trail = trail_position(s, __atomic_load_n(&s->trail_at, __ATOMIC_ACQUIRE));
	__atomic_store_n(&s->trail_tail, r->trail, __ATOMIC_SEQ_CST);
}

/* As many as there are, up to BATCH. Returns how it ended. */
static enum outcome steps(struct merge *m, uint32_t i, bool *any)
{
	struct self *s = channel_ring(m->channel, i);
	struct ring *r = ring_at(m, i);
	struct entry e = {0};
	enum outcome o = TAKEN;

	for (size_t n = 0; n < BATCH && o == TAKEN;) {
		size_t row = step_row(m, i, r, s, BATCH - n);

		o = row ? TAKEN : step(m, i, r, s, &e);
		*any |= o == TAKEN;
		n += row ? row : 1;
	}
	return o;
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
	if (r->hole != r->hole_end)
		wipe_hole(r, s);
	if (!r->insane)
		o = steps(m, i, &any);
	if (r->insane)
		ring_ignore(r, s);
	if ((r->tail != r->told || o != TAKEN) && (r->insane || __atomic_load_n(&s->tail_waited, __ATOMIC_RELAXED)))
		publish(r, s, o == TAKEN ? WAKE : RING_BYTES);
	if (o != TAKEN && __atomic_load_n(&s->trail_waited, __ATOMIC_RELAXED))
		trail_publish(r, s, UINT64_MAX);
	r->stuck &= !any;
	if (any || o != NOTHING || (state == RING_USED && !r->dead))
		return any;
	if (r->insane || !hole_skip(m, r, s))
		ring_finish(m, i, r, s);
	return true;
}

/* The ring, and then those whose turn it is. */
static bool drain_chain(struct merge *m, uint32_t i)
{
	bool any = drain(m, i);

	for (unsigned n = 0; n < CHAIN && turn_known(m, &i) && i < ring_count(m); n++)
		if (!drain(m, i))
			return any;
	return any;
}

/* Nothing to be had from it before its ticket's turn. */
static bool must_wait(const struct merge *m, const struct ring *r)
{
	return r->blocked > m->next && !r->insane;
}

/* Room that producers were not told of yet: it is little, and there is time. */
static void publish_all(struct merge *m, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (ring_at(m, i)->tail != ring_at(m, i)->told)
			publish(ring_at(m, i), channel_ring(m->channel, i), RING_BYTES);
}

bool merge_step(struct merge *m)
{
	uint32_t n = ring_count(m);
	bool any = false;

	for (uint32_t i = 0; i < n; i++)
		if (!must_wait(m, ring_at(m, i)))
			any |= drain_chain(m, i);
	if (!any)
		publish_all(m, n);
	return any;
}

/* Who lives, and what never comes. */

static bool is_used(struct merge *m, uint32_t i)
{
	return __atomic_load_n(&channel_ring(m->channel, i)->state, __ATOMIC_ACQUIRE) == RING_USED && !ring_at(m, i)->dead;
}

/* All that there is of it is a loop that goes on: nothing behind that is in the making, slots come before tickets. */
static bool is_counting(struct merge *m, uint32_t i)
{
	struct self *s = channel_ring(m->channel, i);
	struct ring *r = ring_at(m, i);
	uint64_t first = r->open ? first_word(s, r->tail) : 0;

	return is_open_loop(m, first) && head_of(r, s) == r->tail + (1 + (first >> 8 & 255)) * SLOT;
}

/* Something of it is reserved and not written, or is a loop with something behind it. */
static bool is_making(struct merge *m, uint32_t i)
{
	struct self *s = channel_ring(m->channel, i);
	struct ring *r = ring_at(m, i);
	uint64_t first = first_word(s, r->tail);

	return !r->insane && !r->blocked && head_of(r, s) != r->tail &&
	       (!first || (is_open_loop(m, first) && !is_counting(m, i)));
}

/* Of a process that was just forked only its parent may have spoken yet: its thread is its first. */
bool merge_owners(struct merge *m, uint32_t *from, struct merge_owner *o)
{
	for (; *from < ring_count(m); ++*from) {
		const struct self *s = channel_ring(m->channel, *from);

		if (!is_used(m, *from) || __atomic_load_n(&s->pid, __ATOMIC_ACQUIRE) <= 0)
			continue;
		*o = (struct merge_owner){
			.ring = *from, .process = s->process, .pid = s->pid, .tid = s->tid ? s->tid : s->pid,
			.stuck = is_making(m, *from),
		};
		++*from;
		return true;
	}
	return false;
}

bool merge_expects(struct merge *m)
{
	for (uint32_t i = 0; i < ring_count(m); i++) {
		const struct self *s = channel_ring(m->channel, i);

		if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == RING_USED && !ring_at(m, i)->dead &&
			__atomic_load_n(&s->pid, __ATOMIC_ACQUIRE) == 0)
			return true;
	}
	return false;
}

/* For a ticket that has not come, or for room. */
static bool anyone_waits(struct merge *m)
{
	for (uint32_t i = 0; i < ring_count(m); i++)
		if (ring_at(m, i)->blocked || __atomic_load_n(&channel_ring(m->channel, i)->tail_waited, __ATOMIC_RELAXED) ||
			__atomic_load_n(&channel_ring(m->channel, i)->trail_waited, __ATOMIC_RELAXED))
			return true;
	return false;
}

void merge_dead(struct merge *m, uint32_t ring)
{
	m->cut_off += !ring_at(m, ring)->dead;
	ring_at(m, ring)->dead = true;
}

bool merge_relieve(struct merge *m)
{
	bool any = pass_any(m);

	for (uint32_t i = 0; i < ring_count(m); i++) {
		struct self *s = channel_ring(m->channel, i);
		struct ring *r = ring_at(m, i);

		if (is_used(m, i) && is_making(m, i) && __atomic_load_n(&s->head, __ATOMIC_ACQUIRE) - r->tail > RING_BYTES)
			any |= hole_skip(m, r, s);
	}
	return any;
}

bool merge_skip(struct merge *m, uint32_t ring)
{
	struct ring *r = ring_at(m, ring);

	if (!is_used(m, ring) || !is_making(m, ring) || !anyone_waits(m))
		return false;
	r->stuck = !hole_skip(m, r, channel_ring(m->channel, ring));
	return !r->stuck;
}

/* Whether an entry may still come that takes the missing ticket: some living ring has one in the making. */
static bool in_the_making(struct merge *m)
{
	for (uint32_t i = 0; i < ring_count(m); i++) {
		const struct ring *r = ring_at(m, i);

		if (is_used(m, i) && !r->stuck && !r->insane && !r->blocked && !is_counting(m, i) &&
			(!r->open || head_of(r, channel_ring(m->channel, i)) != r->tail))
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

bool merge_is_over(const struct merge *m)
{
	return m->next > m->last;
}

bool merge_unblock(struct merge *m)
{
	uint64_t least = least_blocked(m);

	if (!least || least <= m->next || merge_is_over(m) || in_the_making(m))
		return false;
	m->given_up += least - m->next;
	m->next = least;
	return true;
}

/*
 * Processes that go on writing all the same are heard until there is as much of them as rings can hold. What stands at
 * a ticket behind the last one stays there.
 */
void merge_end(struct merge *m)
{
	uint64_t last = m->entries + 2 * (uint64_t)RING_SLOTS * ring_count(m);

	for (uint32_t i = 0; i < ring_count(m); i++)
		if (is_used(m, i))
			merge_dead(m, i);
	do
		while (merge_step(m) && m->entries <= last)
			;
	while ((pass_any(m) || merge_unblock(m)) && m->entries <= last);
	for (uint32_t i = 0; i < ring_count(m); i++)
		if (ring_at(m, i)->open && ring_at(m, i)->blocked)
			m->to.finish(m->to.self, i);
}
