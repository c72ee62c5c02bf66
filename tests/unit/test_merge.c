/* SPDX-License-Identifier: MIT */
/* The merge of the rings: order, holes, tickets that never come; and rings that no library would have written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "collect/merge.h"
#include "collect/translate.h"
#include "event/brief.h"
#include "event/trace.h"
#include "event/trace_bin.h"
#include "event/trace_bin_columns.h"
#include "event/wellformed.h"
#include "../robust/fake_rings.h"
#include "symbols/namer.h"

enum { RINGS = 8, SEEN_MOST = 4096 };

/* What a listener has got, as "ring:address" in order. */
struct scene {
	struct arena arena;
	struct channel *channel;
	struct merge merge;
	uint32_t ring[SEEN_MOST];
	uint64_t address[SEEN_MOST];
	size_t count;
	unsigned begun, finished;
	uint64_t argument; /* of the last loop */
	char text[TEXT_MOST + 1];
};

static void on_begin(void *self, uint32_t ring, const struct self *thread)
{
	struct scene *s = self;

	(void)ring, (void)thread;
	s->begun++;
}

static void on_entry(void *self, uint32_t ring, const struct entry *e)
{
	struct scene *s = self;

	if (e->text)
		memcpy(s->text, e->text, e->extra + 1u);
	if (e->kind == ENTRY_LOOP)
		s->argument = e->argument;
	assert_true(s->count < SEEN_MOST);
	s->ring[s->count] = ring;
	s->address[s->count++] = e->address;
}

static void on_finish(void *self, uint32_t ring)
{
	struct scene *s = self;

	(void)ring;
	s->finished++;
}

static struct scene *scene_new(void)
{
	static struct scene s;

	memset(&s, 0, sizeof s);
	arena_init(&s.arena);
	s.channel = fake_channel(RINGS);
	s.channel->mode = MODE_FILTER; /* there may be releases without tickets */
	merge_init(&s.merge, &s.arena, s.channel,
		(struct merge_listener){.self = &s, .begin = on_begin, .entry = on_entry, .finish = on_finish});
	return &s;
}

static void scene_delete(struct scene *s)
{
	fake_channel_free(s->channel);
	arena_free(&s->arena);
}

static void take_all(struct scene *s)
{
	while (merge_step(&s->merge))
		;
}

static void read_at(struct self *s, uint64_t address)
{
	fake_put(s, fake_first(ENTRY_READ, 8, address), 0x401000);
}

/* What has come so far. */
static void assert_seen(const struct scene *s, const char *ring_digits)
{
	assert_int_equal(s->count, strlen(ring_digits));
	for (size_t i = 0; i < s->count; i++)
		assert_int_equal(s->ring[i], ring_digits[i] - '0');
}

/* Order. */

static void tickets_order_entries(void **state)
{
	struct scene *s = scene_new();
	struct self *a = fake_thread(s->channel, 0, 1, 1), *b = fake_thread(s->channel, 1, 1, 2);

	(void)state;
	s->channel->ticket = 4;
	fake_sync_at(a, ENTRY_ACQUIRE, 1, 3);
	read_at(a, 10);
	fake_sync_at(a, ENTRY_RELEASE, 1, 4);
	fake_sync_at(b, ENTRY_ACQUIRE, 1, 1);
	read_at(b, 20);
	fake_sync_at(b, ENTRY_RELEASE, 1, 2);
	take_all(s);
	assert_seen(s, "111000");
	assert_int_equal(s->merge.late + s->merge.given_up, 0);
	scene_delete(s);
}

/*
 * A handler has interrupted a hook that had its slots and no ticket yet, and a second one the handler: their tickets
 * stand behind greater ones. Another thread's ticket lies between.
 */
static void a_handlers_tickets_come_before_the_interrupted(void **state)
{
	static const uint64_t expected[] = {2, 20, 3, 9, 4, 1, 10};
	struct scene *s = scene_new();
	struct self *a = fake_thread(s->channel, 0, 1, 1), *b = fake_thread(s->channel, 1, 1, 2);

	(void)state;
	s->channel->ticket = 5;
	fake_sync_at(a, ENTRY_ACQUIRE, 1, 5);
	fake_sync_at(a, ENTRY_ATOMIC_RMW, 2, 1);
	read_at(a, 20);
	fake_sync_at(a, ENTRY_ATOMIC_RMW, 4, 4);
	fake_sync_at(a, ENTRY_ATOMIC_RMW, 3, 2);
	read_at(a, 10);
	fake_sync_at(b, ENTRY_RELEASE, 9, 3);
	do
		take_all(s);
	while (merge_relieve(&s->merge));
	assert_int_equal(s->count, 7);
	for (size_t i = 0; i < s->count; i++)
		assert_int_equal(s->address[i], expected[i]);
	assert_int_equal(s->merge.late + s->merge.given_up, 0);
	scene_delete(s);
}

/* The mutex of a wait is its argument. */
static void fake_sync_of(struct channel *c, struct self *s, enum entry_kind kind, uint64_t lock)
{
	fake_sync(c, s, kind, kind == ENTRY_WOKEN ? 77 : lock);
	if (kind == ENTRY_WOKEN)
		ring_slot(s, s->head - SLOT)->word[1] = lock;
}

/* It stands in a ring that comes later, and was not there when that ring was looked at last. */
static void a_release_without_a_ticket_comes_before_the_next_acquire(void **state)
{
	static const enum entry_kind kinds[] = {ENTRY_ACQUIRE, ENTRY_ACQUIRE_SHARED, ENTRY_WOKEN, ENTRY_MAKE, ENTRY_BREAK};

	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct scene *s = scene_new();
		struct self *next = fake_thread(s->channel, 0, 1, 1), *holder = fake_thread(s->channel, 1, 1, 2);

		fake_sync(s->channel, holder, ENTRY_ACQUIRE, 1);
		take_all(s);
		assert_seen(s, "1");
		read_at(holder, 10);
		fake_put(holder, fake_first(ENTRY_UNLOCK, 0, 1), 0x401000);
		fake_sync_of(s->channel, next, kinds[i], 1);
		fake_sync(s->channel, holder, ENTRY_ACQUIRE, 2);
		take_all(s);
		assert_seen(s, "11101");
		assert_int_equal(s->merge.owings, kinds[i] == ENTRY_ACQUIRE ? 2 : 1);
		scene_delete(s);
	}
}

/* How many may still release without a ticket. */
static size_t debts(const struct scene *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->merge.owings; i++)
		n += s->merge.owing[i].lock != 0;
	return n;
}

/* Whoever has released, or has taken another ticket, is not looked at again; nor is one that is gone. */
static void nobody_owes_a_release_for_ever(void **state)
{
	struct scene *s = scene_new();
	struct self *a = fake_thread(s->channel, 0, 1, 1), *b = fake_thread(s->channel, 1, 1, 2),
		*c = fake_thread(s->channel, 2, 1, 3);

	(void)state;
	fake_sync(s->channel, a, ENTRY_ACQUIRE, 1);
	fake_sync(s->channel, b, ENTRY_ACQUIRE, 2);
	fake_sync(s->channel, c, ENTRY_ACQUIRE, 3);
	take_all(s);
	assert_int_equal(debts(s), 3);
	fake_put(a, fake_first(ENTRY_UNLOCK, 0, 1), 0x401000);
	fake_sync(s->channel, b, ENTRY_RELEASE, 2);
	take_all(s);
	assert_int_equal(debts(s), 1);
	c->state = RING_LEFT;
	take_all(s);
	assert_int_equal(debts(s), 0);
	assert_int_equal(s->merge.owings, 2);
	scene_delete(s);
}

/* A long list of threads that have locked once is not gone through at each acquire. */
static void those_who_owe_nothing_leave_a_long_list(void **state)
{
	struct scene *s = scene_new();
	struct self *all[RINGS];

	(void)state;
	for (uint32_t i = 0; i < RINGS; i++) {
		all[i] = fake_thread(s->channel, i, 1, 1 + i);
		fake_sync(s->channel, all[i], ENTRY_ACQUIRE, 1 + i);
		fake_put(all[i], fake_first(ENTRY_UNLOCK, 0, 1 + i), 0x401000);
	}
	take_all(s);
	assert_int_equal(debts(s), 0);
	assert_true(s->merge.owings < RINGS);
	fake_sync(s->channel, all[3], ENTRY_ACQUIRE, 1);
	fake_sync(s->channel, all[5], ENTRY_ACQUIRE, 99);
	take_all(s);
	assert_int_equal(debts(s), 2);
	assert_true(s->merge.owings < RINGS);
	fake_put(all[3], fake_first(ENTRY_UNLOCK, 0, 1), 0x401000);
	fake_sync(s->channel, all[0], ENTRY_ACQUIRE, 1);
	take_all(s);
	assert_int_equal(debts(s), 2);
	assert_int_equal(s->ring[s->count - 2], 3);
	assert_int_equal(s->ring[s->count - 1], 0);
	scene_delete(s);
}

/* Whoever takes another lock, or one that is in no hurry, does not look at it. */
static void only_the_lock_itself_is_waited_for(void **state)
{
	struct scene *s = scene_new();
	struct self *next = fake_thread(s->channel, 0, 1, 1), *holder = fake_thread(s->channel, 1, 1, 2);

	(void)state;
	fake_sync(s->channel, holder, ENTRY_ACQUIRE, 1);
	take_all(s);
	read_at(holder, 10);
	fake_sync(s->channel, next, ENTRY_ACQUIRE, 2);
	read_at(next, 20);
	take_all(s);
	assert_seen(s, "1001");
	scene_delete(s);
}

/* An access of the past, by that ring's thread, at its first ticket. */
static void put_past(struct self *s, uint64_t ring)
{
	uint64_t at = fake_reserve(s, 2), time = (uint64_t)1 << TICK_BITS | 3;

	fake_write(s, at + SLOT, ENTRY_SIZE, 0x401000);
	fake_write(s, at, fake_first(ENTRY_PAST, 1, 10), ring << (8 + TIME_BITS) | time << 8);
}

/* It races with an access that has a place behind a release without a ticket. */
static void an_access_of_the_past_comes_behind_such_a_release(void **state)
{
	struct scene *s = scene_new();
	struct self *next = fake_thread(s->channel, 0, 1, 1), *holder = fake_thread(s->channel, 1, 1, 2);

	(void)state;
	fake_sync(s->channel, holder, ENTRY_ACQUIRE, 1);
	take_all(s);
	fake_put(holder, fake_first(ENTRY_UNLOCK, 0, 1), 0x401000);
	put_past(next, 1);
	take_all(s);
	assert_seen(s, "110");
	scene_delete(s);
}

/* That thread has taken another lock since, which a third one has released: that one comes first. */
static void an_access_of_the_past_does_not_hurry_tickets(void **state)
{
	struct scene *s = scene_new();
	struct self *next = fake_thread(s->channel, 0, 1, 1), *third = fake_thread(s->channel, 1, 1, 2),
		*other = fake_thread(s->channel, 2, 1, 3);

	(void)state;
	fake_sync(s->channel, other, ENTRY_ACQUIRE, 1);
	fake_sync(s->channel, third, ENTRY_ACQUIRE, 2);
	take_all(s);
	put_past(next, 2);
	fake_put(third, fake_first(ENTRY_UNLOCK, 0, 2), 0x401000);
	fake_sync(s->channel, other, ENTRY_ACQUIRE, 2);
	take_all(s);
	assert_seen(s, "21012");
	scene_delete(s);
}

/* Each tells of the other, and both may release without a ticket. */
static void two_that_tell_of_each_other_go_on(void **state)
{
	struct scene *s = scene_new();
	struct self *a = fake_thread(s->channel, 0, 1, 1), *b = fake_thread(s->channel, 1, 1, 2);

	(void)state;
	fake_sync(s->channel, a, ENTRY_ACQUIRE, 1);
	fake_sync(s->channel, b, ENTRY_ACQUIRE, 2);
	put_past(a, 1);
	put_past(b, 0);
	take_all(s);
	assert_int_equal(s->count, 4);
	scene_delete(s);
}

/* It was given up, and comes behind a later one: that is still the thread's last. */
static void a_late_ticket_ends_no_debt(void **state)
{
	struct scene *s = scene_new();
	struct self *next = fake_thread(s->channel, 0, 1, 1), *holder = fake_thread(s->channel, 1, 1, 2);

	(void)state;
	s->channel->ticket = 2;
	s->merge.next = 2;
	fake_sync_at(holder, ENTRY_ACQUIRE, 1, 2);
	fake_sync_at(holder, ENTRY_SEM_POST, 9, 1);
	take_all(s);
	fake_put(holder, fake_first(ENTRY_UNLOCK, 0, 1), 0x401000);
	fake_sync(s->channel, next, ENTRY_ACQUIRE, 1);
	take_all(s);
	assert_seen(s, "1110");
	scene_delete(s);
}

/* Both come again: neither waits until the other is through. */
static void tickets_that_come_twice_do_not_wait_for_each_other(void **state)
{
	struct scene *s = scene_new();
	struct self *a = fake_thread(s->channel, 0, 1, 1), *b = fake_thread(s->channel, 1, 1, 2);

	(void)state;
	s->channel->ticket = 2;
	fake_sync_at(a, ENTRY_ACQUIRE, 1, 1);
	fake_sync_at(b, ENTRY_ACQUIRE, 2, 2);
	take_all(s);
	fake_sync_at(a, ENTRY_ACQUIRE, 1, 1);
	fake_sync_at(b, ENTRY_ACQUIRE, 2, 2);
	take_all(s);
	assert_int_equal(s->count, 4);
	assert_int_equal(s->merge.late, 2);
	scene_delete(s);
}

/* Two tickets that fall on one place of the table: the round over all rings finds the other one. */
static void tickets_may_collide(void **state)
{
	struct scene *s = scene_new();
	struct self *a = fake_thread(s->channel, 0, 1, 1), *b = fake_thread(s->channel, 1, 1, 2),
		*c = fake_thread(s->channel, 2, 1, 3);

	(void)state;
	s->channel->ticket = 2 * MERGE_TURNS;
	fake_sync_at(a, ENTRY_TICK, 0, 2);
	fake_sync_at(b, ENTRY_TICK, 0, 2 + MERGE_TURNS);
	take_all(s);
	assert_seen(s, "");
	fake_sync_at(c, ENTRY_TICK, 0, 1);
	for (uint64_t i = 3; i < 2 + MERGE_TURNS - 100; i++)
		fake_sync_at(c, ENTRY_TICK, 0, i);
	take_all(s);
	assert_int_equal(s->count, MERGE_TURNS - 100 + 1);
	assert_int_equal(s->ring[1], 0);
	scene_delete(s);
}

static void many_rings_take_turns(void **state)
{
	struct scene *s = scene_new();

	(void)state;
	for (uint32_t i = 0; i < RINGS; i++)
		fake_thread(s->channel, i, 1, i + 1);
	for (uint64_t i = 0; i < 2000; i++)
		fake_sync(s->channel, channel_ring(s->channel, (uint32_t)(i * 5 % RINGS)), ENTRY_TICK, i);
	take_all(s);
	assert_int_equal(s->count, 2000);
	for (uint64_t i = 0; i < 2000; i++)
		assert_int_equal(s->address[i], i);
	scene_delete(s);
}

/* Tickets that never come. */

static void a_ticket_in_the_making_is_waited_for(void **state)
{
	struct scene *s = scene_new();
	struct self *a = fake_thread(s->channel, 0, 1, 1), *b = fake_thread(s->channel, 1, 1, 2);
	uint64_t at;

	(void)state;
	read_at(a, 1);
	at = fake_reserve(a, 2);
	s->channel->ticket = 2;
	fake_sync_at(b, ENTRY_ACQUIRE, 1, 2);
	take_all(s);
	assert_false(merge_unblock(&s->merge));
	assert_seen(s, "0");
	fake_write(a, at + SLOT, fake_first(ENTRY_TICKET, 0, 1), 0);
	fake_write(a, at, fake_first(ENTRY_RELEASE, 0, 1), 0);
	take_all(s);
	assert_seen(s, "001");
	scene_delete(s);
}

static void a_dead_threads_ticket_is_given_up(void **state)
{
	struct scene *s = scene_new();
	struct self *a = fake_thread(s->channel, 0, 1, 1), *b = fake_thread(s->channel, 1, 1, 2);

	(void)state;
	read_at(a, 1);
	fake_reserve(a, 2);
	s->channel->ticket = 2;
	fake_sync_at(b, ENTRY_ACQUIRE, 1, 2);
	take_all(s);
	merge_dead(&s->merge, 0);
	take_all(s);
	assert_int_equal(s->finished, 1);
	assert_true(merge_unblock(&s->merge));
	take_all(s);
	assert_seen(s, "01");
	assert_int_equal(s->merge.given_up, 1);
	scene_delete(s);
}

static void a_late_ticket_is_taken_and_counted(void **state)
{
	struct scene *s = scene_new();
	struct self *a = fake_thread(s->channel, 0, 1, 1), *b = fake_thread(s->channel, 1, 1, 2);

	(void)state;
	read_at(a, 1);
	s->channel->ticket = 2;
	fake_sync_at(b, ENTRY_ACQUIRE, 1, 2);
	take_all(s);
	assert_true(merge_unblock(&s->merge));
	take_all(s);
	fake_sync_at(a, ENTRY_RELEASE, 1, 1);
	take_all(s);
	assert_seen(s, "010");
	assert_int_equal(s->merge.late, 1);
	scene_delete(s);
}

/* A free ring's last owner has nothing to do with its next one. */
static void a_ring_is_used_again(void **state)
{
	struct scene *s = scene_new();
	struct self *a = fake_thread(s->channel, 0, 1, 1);
	struct merge_owner o;
	uint32_t from = 0;

	(void)state;
	read_at(a, 1);
	a->state = RING_LEFT;
	take_all(s);
	assert_int_equal(a->state, RING_FREE);
	a->state = RING_USED;
	assert_false(merge_owners(&s->merge, &from, &o)); /* it has not said who it is */
	fake_thread(s->channel, 0, 2, 7);
	from = 0;
	assert_true(merge_owners(&s->merge, &from, &o));
	assert_int_equal(o.process, 2);
	read_at(a, 2);
	take_all(s);
	assert_int_equal(s->begun, 2);
	assert_seen(s, "00");
	scene_delete(s);
}

/* Holes. */

/* Ring 0 has a hole and an entry behind it; ring 1 waits for a ticket. */
static uint64_t make_hole(struct scene *s)
{
	struct self *a = fake_thread(s->channel, 0, 1, 1), *b = fake_thread(s->channel, 1, 1, 2);
	uint64_t at;

	read_at(a, 1);
	at = fake_reserve(a, 1);
	fake_sync_at(a, ENTRY_SEM_POST, 1, 1);
	s->channel->ticket = 2;
	fake_sync_at(b, ENTRY_SEM_WAIT, 1, 2);
	take_all(s);
	assert_seen(s, "0");
	assert_false(merge_unblock(&s->merge));
	return at;
}

static void a_hole_is_skipped(void **state)
{
	struct scene *s = scene_new();
	struct self *a;
	uint64_t at = make_hole(s);

	(void)state;
	assert_true(merge_skip(&s->merge, 0));
	assert_false(merge_unblock(&s->merge)); /* the ticket that is waited for stands behind it */
	take_all(s);
	assert_seen(s, "001");
	assert_int_equal(s->merge.skipped, 1);
	/* The hook comes back and writes: nobody sees it, not in the next round over the ring either. */
	a = channel_ring(s->channel, 0);
	fake_write(a, at, fake_first(ENTRY_READ, 8, 666), 0);
	for (unsigned i = 0; i < 3000; i++)
		read_at(a, 2);
	take_all(s);
	for (unsigned k = 0; k < 2 * RING_SLOTS / 4096; k++) {
		s->count = 0;
		for (unsigned i = 0; i < 4000; i++)
			read_at(a, 3);
		take_all(s);
		for (size_t i = 0; i < s->count; i++)
			assert_int_equal(s->address[i], 3);
		assert_int_equal(s->count, 4000);
	}
	scene_delete(s);
}

static void a_hole_that_nobody_waits_for_is_not_skipped(void **state)
{
	struct scene *s = scene_new();
	struct self *a = fake_thread(s->channel, 0, 1, 1);
	uint64_t at = fake_reserve(a, 1);

	(void)state;
	read_at(a, 2);
	take_all(s);
	assert_false(merge_skip(&s->merge, 0));
	fake_write(a, at, fake_first(ENTRY_READ, 8, 1), 0);
	take_all(s);
	assert_seen(s, "00");
	assert_int_equal(s->address[0], 1);
	scene_delete(s);
}

/* With nothing behind it there is nothing to skip to, but its ticket is not waited for any more. */
static void a_sleeping_ticket_is_given_up(void **state)
{
	struct scene *s = scene_new();
	struct self *a = fake_thread(s->channel, 0, 1, 1), *b = fake_thread(s->channel, 1, 1, 2);

	(void)state;
	read_at(a, 1);
	fake_reserve(a, 2);
	s->channel->ticket = 2;
	fake_sync_at(b, ENTRY_SEM_WAIT, 1, 2);
	take_all(s);
	assert_false(merge_unblock(&s->merge));
	assert_false(merge_skip(&s->merge, 0));
	assert_true(merge_unblock(&s->merge));
	take_all(s);
	assert_seen(s, "01");
	scene_delete(s);
}

/* A thread that waits for room will not fill a hole first. */
static void a_full_ring_is_relieved(void **state)
{
	struct scene *s = scene_new();
	struct self *a = fake_thread(s->channel, 0, 1, 1);

	(void)state;
	fake_reserve(a, 1);
	for (unsigned i = 1; i < 100; i++)
		read_at(a, 2);
	fake_reserve(a, RING_SLOTS - 100);
	take_all(s);
	assert_false(merge_relieve(&s->merge));
	fake_reserve(a, 1);
	assert_true(merge_relieve(&s->merge));
	take_all(s);
	assert_int_equal(s->count, 99);
	scene_delete(s);
}

/* What a killed process had complete behind a hole is not lost. */
static void the_dead_lose_nothing_behind_a_hole(void **state)
{
	struct scene *s = scene_new();

	(void)state;
	make_hole(s);
	merge_end(&s->merge);
	assert_seen(s, "001");
	assert_int_equal(s->finished, 2);
	assert_int_equal(s->merge.skipped, 1);
	scene_delete(s);
}

/* Distrust. */

static void nonsense_abandons_its_ring(void **state)
{
	static const uint64_t nonsense[][2] = {
		{ENTRY_TICKET, 0}, {ENTRY_PART, 0}, {ENTRY_KINDS, 0}, {255, ~(uint64_t)0},
		{ENTRY_BEGIN, (uint64_t)(TEXT_MOST + 1) << ADDRESS_BITS}, {ENTRY_READ_RANGE, 0}, {ENTRY_ACQUIRE, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
		struct scene *s = scene_new();
		struct self *a = fake_thread(s->channel, 0, 1, 1), *b = fake_thread(s->channel, 1, 1, 2);

		fake_put(a, nonsense[i][0], nonsense[i][1]);
		read_at(a, 1);
		read_at(b, 2);
		take_all(s);
		assert_seen(s, "1");
		assert_int_equal(s->merge.insane, 1);
		assert_int_equal(a->tail, a->head); /* it is kept from waiting for room */
		scene_delete(s);
	}
}

static void a_ticket_from_the_future_abandons_its_ring(void **state)
{
	struct scene *s = scene_new();
	struct self *a = fake_thread(s->channel, 0, 1, 1), *b = fake_thread(s->channel, 1, 1, 2);

	(void)state;
	s->channel->ticket = 1;
	fake_sync_at(a, ENTRY_ACQUIRE, 1, (uint64_t)1 << 40);
	fake_sync_at(b, ENTRY_ACQUIRE, 1, 1);
	take_all(s);
	assert_seen(s, "1");
	assert_int_equal(s->merge.insane, 1);
	merge_end(&s->merge);
	assert_int_equal(s->merge.given_up, 0);
	scene_delete(s);
}

static void texts_are_cleaned(void **state)
{
	struct scene *s = scene_new();
	struct self *a = fake_thread(s->channel, 0, 1, 1);
	uint64_t at = fake_reserve(a, 2);

	(void)state;
	fake_write(a, at + SLOT, ENTRY_PART, 0x7f0a620061); /* a NUL b newline DEL */
	fake_write(a, at, fake_first(ENTRY_BEGIN, 0, 0), (uint64_t)5 << ADDRESS_BITS);
	take_all(s);
	assert_string_equal(s->text, "a?b??");
	scene_delete(s);
}

static void absurd_numbers_are_bounded(void **state)
{
	struct scene *s = scene_new();
	struct self *a = fake_thread(s->channel, 0, 0, 0);
	struct merge_owner o;
	uint32_t from = 0;

	(void)state;
	s->channel->rings = UINT32_MAX;
	a->head = UINT64_MAX - 3;
	a->pid = -1;
	take_all(s);
	assert_false(merge_unblock(&s->merge));
	assert_false(merge_owners(&s->merge, &from, &o));
	a->state = 77;
	merge_end(&s->merge);
	assert_seen(s, "");
	scene_delete(s);
}

/* Anything. */

struct rig {
	struct arena arena;
	struct tables tables;
	struct namer namer;
	struct translate translate;
	struct merge merge;
	struct wellformed wellformed;
	struct trace_writer writer;
	struct channel *channel;
	uint64_t random, events, in_rows, in_columns, in_loops, in_rounds, said;
	uint64_t begun[RINGS + 1]; /* by thread: where its last block has begun */
};

static uint64_t draw(struct rig *r, uint64_t n)
{
	r->random = r->random * 6364136223846793005u + 1442695040888963407u;
	return (r->random >> 24) % n;
}

/* As `record` does: what the checks of well-formedness let through must be fit for a trace. */
static void judge(void *to, struct event *e)
{
	struct rig *r = to;
	struct wf_step step = wellformed_step(&r->wellformed, e);

	r->events++;
	if (e->kind == EVENT_ENTER)
		assert_true(e->seq >= r->begun[e->thread % (RINGS + 1)]);
	if (e->kind == EVENT_BEGIN)
		r->begun[e->thread % (RINGS + 1)] = e->seq;
	if (e->kind && (!step.broken || step.mended))
		trace_put(&r->writer, e);
}

static void judge_briefs(void *to, const struct briefs *all)
{
	struct rig *r = to;

	r->in_rows += all->count;
	for (struct briefs rest = *all; rest.count; rest = briefs_from(&rest, 1)) {
		struct briefs b = rest;
		struct event next;

		b.count = wellformed_briefs(&r->wellformed, &rest);
		r->events += b.count;
		trace_put_briefs(&r->writer, &b);
		rest = briefs_from(&rest, b.count);
		if (!rest.count)
			break;
		next = brief_event(&rest, 0);
		judge(r, &next);
	}
}

static bool judge_columns(void *to, thread_id thread, struct bin_columns *c)
{
	struct rig *r = to;

	c->calls = wellformed_calls(&r->wellformed, thread);
	return *wellformed_plain(&r->wellformed, thread) && trace_bin_columns(&r->writer, thread, c);
}

static void judge_columns_end(void *to, const struct bin_columns *c)
{
	struct rig *r = to;
	size_t n = trace_bin_columns_end(&r->writer, c);

	r->events += n;
	r->in_rows += n;
	r->in_columns += n;
}

static void judge_loop(void *to, const struct brief_loop *l)
{
	struct rig *r = to;

	r->in_loops += l->count;
	r->in_rounds += l->stride ? 0 : l->count;
	if (*wellformed_plain(&r->wellformed, l->thread)) {
		r->events += l->count;
		trace_put_loop(&r->writer, l);
		return;
	}
	for (uint64_t i = 0; i < l->count; i++) {
		struct event e = brief_loop_event(l, i);

		judge(r, &e);
	}
}

/* With rows, and written beside, if `rows`; into the file of that descriptor, or into none. */
static void rig_start_as(struct rig *r, uint64_t seed, bool rows, int fd)
{
	char path[64] = "/dev/null";

	if (fd >= 0)
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	*r = (struct rig){.random = seed * 7919 + 1, .channel = fake_channel(RINGS)};
	arena_init(&r->arena);
	tables_init(&r->tables, &r->arena);
	namer_init(&r->namer, &r->arena, &r->tables);
	wellformed_init(&r->wellformed, &r->arena, &r->tables, true);
	assert_true(trace_create(&r->writer, &trace_bin, path, &r->tables, &r->arena));
	trace_bin_hurry(&r->writer);
	if (rows)
		trace_bin_beside(&r->writer);
	translate_init(&r->translate, &r->arena, &r->namer, NULL, r, judge);
	r->translate.values = fd < 0 && seed & 1;
	r->translate.timed = fd < 0 && !rows && seed & 2;
	r->translate.lazy = fd < 0 && !rows && seed & 4;
	r->translate.briefs = rows ? judge_briefs : NULL;
	r->channel->mode = r->translate.timed ? MODE_FILTER : 0;
	merge_init(&r->merge, &r->arena, r->channel, translate_listener(&r->translate));
}

/* Rows go straight into columns, where they can. */
static void rig_columns(struct rig *r)
{
	r->translate.columns = judge_columns;
	r->translate.columns_end = judge_columns_end;
}

static void rig_start(struct rig *r, uint64_t seed)
{
	rig_start_as(r, seed, seed & 8, -1);
	if (seed & 16)
		rig_columns(r);
}

static void rig_end(struct rig *r)
{
	assert_true(trace_commit(&r->writer));
	fake_channel_free(r->channel);
	arena_free(&r->arena);
}

/* An entry that is nearly sane: random fields, few objects, tickets around the next one. */
static void put_random(struct rig *r, struct self *s)
{
	uint64_t kind = draw(r, 40) ? 1 + draw(r, ENTRY_KINDS - 1) : draw(r, 256), address = draw(r, 20);
	uint64_t second = draw(r, 50) ? 0x401000 + draw(r, 30) : draw(r, UINT64_MAX);
	uint64_t at;

	if (entry_is_sync((uint8_t)kind)) {
		uint64_t ticket = draw(r, 20) ? ++r->channel->ticket : draw(r, r->channel->ticket + 3);

		at = fake_reserve(s, 2);
		fake_write(s, at + SLOT, fake_first(draw(r, 99) ? ENTRY_TICKET : ENTRY_PART, (unsigned)draw(r, 256), ticket),
			draw(r, 9) ? draw(r, 4) : draw(r, UINT64_MAX));
		fake_write(s, at, fake_first((enum entry_kind)kind, (unsigned)draw(r, 256), address), second | draw(r, 9) << 48);
	} else if (kind == ENTRY_READ_RANGE || kind == ENTRY_WRITE_RANGE) {
		fake_put(s, fake_first((enum entry_kind)kind, 0, address), second);
		fake_put(s, ENTRY_SIZE, draw(r, 9) ? draw(r, 100) : draw(r, UINT64_MAX));
	} else {
		if (kind >= ENTRY_BEGIN && kind <= ENTRY_MODULE)
			second = (second & 0xffffff) | draw(r, 40) << ADDRESS_BITS;
		fake_put(s, fake_first((enum entry_kind)kind, (unsigned)draw(r, 256), address), second);
		for (uint64_t i = 0; kind >= ENTRY_BEGIN && kind <= ENTRY_MODULE && i * 8 < second >> ADDRESS_BITS; i++)
			fake_put(s, ENTRY_PART, draw(r, UINT64_MAX));
	}
}

/* A program that writes where it likes. */
static void vandalize(struct rig *r)
{
	struct self *s = channel_ring(r->channel, (uint32_t)draw(r, RINGS));
	uint64_t *words = (uint64_t *)s;

	switch (draw(r, 6)) {
	case 0: s->state = (uint32_t)draw(r, 4); break;
	case 1: words[draw(r, sizeof *s / 8)] = draw(r, UINT64_MAX); break;
	case 2: ring_slot(s, draw(r, RING_SLOTS) * SLOT)->word[draw(r, 2)] = draw(r, UINT64_MAX); break;
	case 3: r->channel->rings = (uint32_t)draw(r, UINT32_MAX); break;
	case 4: r->channel->ticket = draw(r, 3) ? draw(r, 1000) : draw(r, UINT64_MAX); break;
	default: s->head += draw(r, 100); break;
	}
}

static void fuzz(uint64_t seed, bool hostile)
{
	static struct rig r;
	uint64_t steps = 0;

	rig_start(&r, seed);
	for (uint32_t i = 0; i < RINGS; i++)
		fake_thread(r.channel, i, 1 + i % 3, 1 + i / 2); /* two rings claim to be one thread */
	for (unsigned i = 0; i < 400; i++) {
		struct self *s = channel_ring(r.channel, (uint32_t)draw(&r, RINGS));

		put_random(&r, s);
		if (hostile && draw(&r, 20) == 0)
			vandalize(&r);
		if (draw(&r, 10) == 0)
			steps += merge_step(&r.merge);
		if (draw(&r, 50) == 0)
			merge_relieve(&r.merge);
		if (draw(&r, 50) == 0)
			merge_unblock(&r.merge);
		if (draw(&r, 50) == 0)
			merge_skip(&r.merge, (uint32_t)draw(&r, RINGS));
	}
	merge_end(&r.merge);
	assert_true(r.arena.bytes < (uint64_t)64 << 20);
	assert_true(steps <= 400);
	rig_end(&r);
}

static void any_entries_are_survived(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++)
		fuzz(seed, false);
}

static void any_channel_is_survived(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++)
		fuzz(seed, true);
}

/* Rows. */

enum { STACK_END = 0x7fff0000, DEEPEST = 40 };

struct walker {
	struct self *self;
	uint32_t depth[DEEPEST];
	unsigned open;
};

static void put_start(struct rig *r, struct self *s)
{
	uint64_t at = fake_reserve(s, 2);

	fake_write(s, at + SLOT, fake_first(ENTRY_TICKET, 0, ++r->channel->ticket), STACK_END);
	fake_write(s, at, fake_first(ENTRY_START, 0, 1), 0x401000);
}

/* `place`: where it was called from, or its frame if that is gone. */
static void put_call(struct self *s, enum entry_kind kind, uint32_t depth, uint64_t place, uint64_t pc)
{
	fake_put(s, fake_first(kind, depth, place), pc | (uint64_t)(depth >> 8) << ADDRESS_BITS);
}

/* Deeper by one call; now and then behind a jump out of some, or with a frame of which nothing is known. */
static void walk_in(struct rig *r, struct walker *w)
{
	uint32_t depth;

	if (draw(r, 30) == 0)
		w->open = (unsigned)draw(r, w->open + 1);
	if (w->open == DEEPEST)
		return;
	depth = (w->open ? w->depth[w->open - 1] : 0) + 1 + (uint32_t)draw(r, 300);
	w->depth[w->open++] = depth;
	put_call(w->self, ENTRY_ENTER, draw(r, 60) ? depth : DEPTH_UNKNOWN, 0x402000 + draw(r, 30), 0x403000 + draw(r, 10));
}

/* Out of one; by a jump at its end sometimes, which leaves no frame; and now and then out of another, or of none. */
static void walk_out(struct rig *r, struct walker *w)
{
	uint32_t depth = w->open ? w->depth[w->open - 1] : 7, below = draw(r, 40) ? depth + 3 : w->depth[draw(r, DEEPEST)];
	bool by_jump = draw(r, 3) == 0;

	w->open -= w->open > 0;
	put_call(w->self, ENTRY_EXIT, by_jump ? (w->open ? w->depth[w->open - 1] : 0) : depth,
		draw(r, 50) ? STACK_END - (uint64_t)DEPTH_UNIT * (by_jump ? depth : below) : 0, 0x403800 + draw(r, 10));
}

/* A handler has interrupted a hook before it had its ticket. */
static void put_interrupted(struct rig *r, struct self *s)
{
	uint64_t ticket = r->channel->ticket;

	r->channel->ticket += 2;
	fake_sync_at(s, ENTRY_SEM_POST, 9, ticket + 2);
	read_at(s, 0x500000);
	fake_sync_at(s, ENTRY_SEM_POST, 8, ticket + 1);
	read_at(s, 0x500008);
}

static uint64_t round_first(enum entry_kind kind, unsigned size, uint64_t address)
{
	return fake_first(ENTRY_ROUND, size, address) | (uint64_t)kind << KIND_BITS;
}

/* Accesses that come again, of one place twice now and then; some do not come again, or at all. */
static void put_loop(struct rig *r, struct self *s)
{
	unsigned items = 1 + (unsigned)draw(r, LOOP_ITEMS);
	uint64_t at = fake_reserve(s, 1 + items), count = draw(r, 3) ? draw(r, 40) * items : draw(r, 300);

	for (unsigned i = 0; i < items; i++) {
		uint64_t place = draw(r, 9) ? i : draw(r, 50), stride = draw(r, 3) ? 8 : draw(r, 1 << 16);

		fake_write(s, at + (1 + i) * SLOT,
			round_first(place & 4 ? ENTRY_READ : ENTRY_WRITE, 1u << place % 4, 0x500000 + 8 * draw(r, 5000)),
			(0x410000 + place) | stride << ADDRESS_BITS);
	}
	fake_write(s, at, fake_first(ENTRY_LOOP, items, LOOP_CLOSED), count);
}

/*
 * Accesses from the same places again and again, in strides or not, with something else among them now and then: no
 * access, none of a size, one of an address that is too large, or a place that is there twice.
 */
static void put_rounds(struct rig *r, struct self *s)
{
	uint64_t items = 1 + draw(r, draw(r, 5) ? 4 : LOOP_ITEMS + 2), count = draw(r, 3) ? draw(r, 60) : draw(r, 1500);
	uint64_t twice = draw(r, 6) ? items : draw(r, items);

	for (uint64_t i = 0; i < count; i++) {
		uint64_t place = i % items == twice ? 0 : i % items, pc = draw(r, 2000) ? 0x420000 + place : 0x420100;
		uint64_t address = 0x500000 + (place & 1 ? 8 * (i / items) : draw(r, place & 2 ? 1 << 10 : 1 << 30));
		enum entry_kind kind = !draw(r, 2000) ? ENTRY_READ_VOLATILE : place & 4 ? ENTRY_READ : ENTRY_WRITE;

		address = draw(r, 3000) ? address : ((uint64_t)1 << ADDRESS_BITS) - 1 - draw(r, 9);
		fake_put(s, fake_first(kind, draw(r, 2000) ? 1u << place % 4 : 0, address),
			draw(r, 3000) ? pc : pc | (uint64_t)1 << ADDRESS_BITS);
	}
}

/* Mostly what nearly all entries are. */
static void walk(struct rig *r, struct walker *w)
{
	unsigned what = (unsigned)draw(r, 3000);
	uint64_t place = draw(r, 2000) ? draw(r, 50) : draw(r, 60000); /* so many that some come where others were */

	if (what == 0)
		put_random(r, w->self);
	else if (what == 1)
		put_interrupted(r, w->self);
	else if (what < 20)
		fake_sync(r->channel, w->self, what < 10 ? ENTRY_ACQUIRE : ENTRY_RELEASE, 1 + what % 3);
	else if (what < 30)
		put_loop(r, w->self);
	else if (what < 40)
		put_rounds(r, w->self);
	else if (what < 700)
		walk_in(r, w);
	else if (what < 1300)
		walk_out(r, w);
	else
		fake_put(w->self, fake_first(ENTRY_READ + draw(r, 4), draw(r, 400) ? 1u << place % 4 : (unsigned)draw(r, 256),
			draw(r, 9) ? 0x500000 + 8 * draw(r, 50) : draw(r, (uint64_t)1 << ADDRESS_BITS)), 0x410000 + place);
}

enum ways { SINGLY, ROWS, COLUMNS, LOOPS }; /* the last: in rows and columns, too */

/* What of the events came together. */
struct together {
	uint64_t in_rows, in_columns, in_loops, in_rounds;
};

/* A run of a few threads as a trace. */
static struct together walk_all(uint64_t seed, enum ways ways, unsigned steps, int fd)
{
	static struct rig r;
	struct walker w[RINGS] = {0};

	rig_start_as(&r, seed, ways != SINGLY, fd);
	r.translate.loop = ways == LOOPS ? judge_loop : NULL;
	if (ways >= COLUMNS)
		rig_columns(&r);
	for (uint32_t i = 0; i < RINGS; i++) {
		w[i].self = fake_thread(r.channel, i, 1 + i % 3, 1 + i);
		put_start(&r, w[i].self);
	}
	for (unsigned i = 0; i < steps; i++) {
		struct walker *who = &w[draw(&r, RINGS)];

		for (uint64_t n = draw(&r, 1000); n; n--)
			walk(&r, who);
		if (draw(&r, 4) == 0)
			while (merge_step(&r.merge) || merge_relieve(&r.merge))
				;
	}
	merge_end(&r.merge);
	rig_end(&r);
	return (struct together){r.in_rows, r.in_columns, r.in_loops, r.in_rounds};
}

/* The same file in both ways. */
static void compare_ways(uint64_t seed, unsigned steps, enum ways ways)
{
	int fd[2] = {memfd_create("entries", 0), memfd_create("rows", 0)};
	struct stat st[2];
	struct together all = {0};

	for (int i = 0; i < 2; i++)
		all = walk_all(seed, i ? ways : SINGLY, steps, fd[i]);
	for (int i = 0; i < 2; i++)
		assert_int_equal(fstat(fd[i], &st[i]), 0);
	assert_true(all.in_rows > steps * 50);
	assert_true(ways == ROWS || all.in_columns > steps * 20);
	assert_int_equal(st[0].st_size, st[1].st_size);
	for (off_t at = 0; at < st[0].st_size; at += 4096) {
		char a[4096] = {0}, b[4096] = {0};

		assert_true(pread(fd[0], a, sizeof a, at) > 0 && pread(fd[1], b, sizeof b, at) > 0);
		assert_memory_equal(a, b, sizeof a);
	}
	close(fd[0]);
	close(fd[1]);
}

static void rows_say_what_entries_say(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 40; seed++)
		compare_ways(seed, 20, ROWS);
	compare_ways(99, 600, ROWS); /* many chunks */
}

static void columns_say_what_entries_say(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 40; seed++)
		compare_ways(seed, 20, COLUMNS);
	compare_ways(99, 600, COLUMNS);
}

static bool open_trace(struct trace *t, int fd, struct arena *a, struct tables *tables)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	arena_init(a);
	tables_init(tables, a);
	return trace_open(t, path, tables, false);
}

static size_t next_event(struct trace *t, struct event *e)
{
	size_t n = trace_next(t, e, 1);

	assert_false(fault_is_set(&t->fault));
	return n;
}

/* The same events in both ways; the places may have other numbers. Adds how many came in loops. */
static void compare_loops(uint64_t seed, unsigned steps, struct together *all)
{
	int fd[2] = {memfd_create("entries", 0), memfd_create("loops", 0)};
	struct event e[2];
	struct trace t[2];
	struct arena arena[2];
	struct tables tables[2];
	struct together some;

	walk_all(seed, SINGLY, steps, fd[0]);
	some = walk_all(seed, LOOPS, steps, fd[1]);
	all->in_loops += some.in_loops;
	all->in_rounds += some.in_rounds;
	for (int i = 0; i < 2; i++)
		assert_true(open_trace(&t[i], fd[i], &arena[i], &tables[i]));
	while (next_event(&t[0], &e[0])) {
		assert_int_equal(next_event(&t[1], &e[1]), 1);
		assert_true(e[0].kind == e[1].kind && e[0].thread == e[1].thread && e[0].object == e[1].object &&
			e[0].size == e[1].size && e[0].flags == e[1].flags && e[0].pc == e[1].pc && e[0].value == e[1].value);
	}
	assert_int_equal(next_event(&t[1], &e[1]), 0);
	for (int i = 0; i < 2; i++) {
		trace_close(&t[i]);
		arena_free(&arena[i]);
		close(fd[i]);
	}
}

static void loops_say_what_entries_say(void **state)
{
	struct together all = {0};

	(void)state;
	for (uint64_t seed = 0; seed < 40; seed++)
		compare_loops(seed, 20, &all);
	compare_loops(99, 300, &all);
	assert_true(all.in_loops - all.in_rounds > 100000);
	assert_true(all.in_rounds > 100000);
}

/* A loop that goes on stays where it is; if its thread dies, what was counted counts. */
static void an_open_loop_waits(void **state)
{
	struct scene *s = scene_new();
	struct self *a = fake_thread(s->channel, 0, 1, 1);
	uint64_t at;

	(void)state;
	s->merge.loops = true;
	fake_sync(s->channel, a, ENTRY_START, 1);
	at = fake_reserve(a, 3);
	fake_write(a, at + 2 * SLOT, round_first(ENTRY_WRITE, 8, 0x2000), 0x401000);
	fake_write(a, at + SLOT, round_first(ENTRY_READ, 8, 0x1000), 0x401000);
	fake_write(a, at, fake_first(ENTRY_LOOP, 2, LOOP_OPEN), 0);
	read_at(a, 0x3000);
	take_all(s);
	assert_seen(s, "0");
	a->loop.at = (uint64_t)5 << LOOP_ROUND_SHIFT | (offsetof(struct self, loop) + offsetof(struct loop_self, item[1]));
	merge_end(&s->merge);
	assert_seen(s, "000");
	assert_int_equal(s->argument, 11);
	assert_int_equal(s->merge.insane, 0);
	scene_delete(s);
}

/* What is none: no items or too many, other slots among them, a count that cannot be, or another mode. */
static void loops_that_are_none(void **state)
{
	static const struct { unsigned items, has, kind; uint64_t count, stand; bool mode; } cases[] = {
		{0, 0, ENTRY_READ, 5, LOOP_CLOSED, true}, {LOOP_ITEMS + 1, LOOP_ITEMS + 1, ENTRY_READ, 5, LOOP_CLOSED, true},
		{3, 2, ENTRY_READ, 5, LOOP_CLOSED, true}, {3, 3, 0, 5, LOOP_CLOSED, true}, {3, 3, 3, 5, LOOP_CLOSED, true},
		{3, 3, ENTRY_READ, UINT64_MAX, LOOP_CLOSED, true}, {3, 3, ENTRY_READ, 5, 3, true},
		{3, 3, ENTRY_READ, 5, LOOP_CLOSED, false}, {3, 3, ENTRY_READ, 5, LOOP_OPEN, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct scene *s = scene_new();
		struct self *a = fake_thread(s->channel, 0, 1, 1);

		s->merge.loops = cases[i].mode;
		fake_put(a, fake_first(ENTRY_LOOP, cases[i].items, cases[i].stand), cases[i].count);
		for (unsigned n = 0; n < cases[i].has; n++)
			fake_put(a, round_first((enum entry_kind)cases[i].kind, 8, 0x1000), 0x401000);
		read_at(a, 0x3000);
		take_all(s);
		assert_int_equal(s->merge.insane, 1);
		assert_int_equal(s->count, 0);
		scene_delete(s);
	}
}

/* Rows with times, and acquires with their releases. */

/* All that was said, as one number. */
static void say(void *to, struct event *e)
{
	struct rig *r = to;
	uint64_t fields[] = {e->kind, e->flags, e->thread, e->object, e->value, e->size, e->site, e->seq, e->pc};

	r->events++;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		r->said = (r->said ^ fields[i]) * 0x9e3779b97f4a7c15u + (r->said >> 29);
}

static void rig_start_timed(struct rig *r, uint64_t seed, bool singly)
{
	struct merge_listener to;

	*r = (struct rig){.random = seed * 7919 + 1, .channel = fake_channel(RINGS)};
	arena_init(&r->arena);
	tables_init(&r->tables, &r->arena);
	namer_init(&r->namer, &r->arena, &r->tables);
	translate_init(&r->translate, &r->arena, &r->namer, NULL, r, say);
	r->translate.late = true;
	r->translate.timed = true;
	r->translate.lazy = seed & 1;
	r->translate.stream = STREAM_FILTERED;
	r->channel->mode = MODE_FILTER;
	to = translate_listener(&r->translate);
	assert_true(to.row && to.pairs);
	if (singly) {
		to.row = NULL;
		to.row_kinds = 0;
		to.pairs = false;
	}
	merge_init(&r->merge, &r->arena, r->channel, to);
}

/* An acquire, which may bring a function along, and mostly its release; inside of that function or not. */
static void put_section(struct rig *r, struct walker *w)
{
	bool brings = draw(r, 2);
	uint64_t at = fake_reserve(w->self, 2), lock = 8 * (1 + draw(r, 4)), depth = 100 + draw(r, 3);
	uint64_t argument = brings ? (0x402000 + draw(r, 5)) | draw(r, 9) << ADDRESS_BITS : 0;

	fake_write(w->self, at + SLOT, fake_first(ENTRY_TICKET, brings ? (unsigned)draw(r, 5) : 0, ++r->channel->ticket),
		argument);
	fake_write(w->self, at, fake_first(ENTRY_ACQUIRE, brings ? (unsigned)depth : 0, lock), 0x403000 + draw(r, 9));
	if (draw(r, 9) == 0)
		walk_in(r, w);
	if (draw(r, 9))
		fake_put(w->self, fake_first(ENTRY_UNLOCK, draw(r, 9) ? brings : (unsigned)draw(r, 2), draw(r, 9) ? lock : 8),
			0x403100 + draw(r, 9) + (draw(r, 50) << ADDRESS_BITS));
}

/* An access of the past of any ring, at a time that may be to come; now and then it makes no sense. */
static void put_any_past(struct rig *r, struct self *s)
{
	uint64_t at = fake_reserve(s, 2), time = (r->channel->ticket + draw(r, 3)) << TICK_BITS | draw(r, 50);

	fake_write(s, at + SLOT, fake_first(draw(r, 500) ? ENTRY_SIZE : ENTRY_NOTHING, 0, 0), draw(r, 3) << 32 | 0x410000);
	fake_write(s, at, fake_first(ENTRY_PAST, (unsigned)draw(r, 2), 0x500000 + 4 * draw(r, 99)),
		draw(r, RINGS + 1) << (8 + TIME_BITS) | time << 8 | draw(r, 16) << 4);
}

static void walk_timed(struct rig *r, struct walker *w)
{
	static const enum entry_kind others[] = {ENTRY_RELEASE, ENTRY_NOTIFY, ENTRY_ALLOC, ENTRY_FREE, ENTRY_WAIT,
		ENTRY_WOKEN, ENTRY_RELEASE_SHARED, ENTRY_ATOMIC_RMW};
	unsigned what = (unsigned)draw(r, 200);

	if (what == 0)
		put_random(r, w->self);
	else if (what < 4)
		fake_put(w->self, fake_first(ENTRY_IGNORE, (unsigned)draw(r, 16), 0), 0);
	else if (what < 20)
		fake_sync(r->channel, w->self, others[what % 8], 8 * (1 + draw(r, 4)));
	else if (what < 26)
		put_any_past(r, w->self);
	else if (what < 70)
		put_section(r, w);
	else if (what < 90)
		fake_put(w->self, fake_first(ENTRY_TIME, 0, 1), r->channel->ticket << TICK_BITS | draw(r, 50));
	else if (what < 120)
		walk_in(r, w);
	else if (what < 150)
		walk_out(r, w);
	else
		fake_put(w->self, fake_first(draw(r, 2) ? ENTRY_READ : ENTRY_WRITE, (unsigned)draw(r, 9), 0x500000 + draw(r, 99)),
			(0x410000 + draw(r, 50)) | draw(r, 50) << ADDRESS_BITS);
}

/* Returns all that was said. */
static uint64_t walk_all_timed(uint64_t seed, bool singly, uint64_t *events)
{
	static struct rig r;
	struct walker w[RINGS] = {0};

	rig_start_timed(&r, seed, singly);
	for (uint32_t i = 0; i < RINGS; i++) {
		w[i].self = fake_thread(r.channel, i, 1 + i % 3, 1 + i);
		put_start(&r, w[i].self);
	}
	for (unsigned i = 0; i < 30; i++) {
		struct walker *who = &w[draw(&r, RINGS)];

		for (uint64_t n = draw(&r, 300); n; n--)
			walk_timed(&r, who);
		while (merge_step(&r.merge) || merge_relieve(&r.merge))
			;
	}
	merge_end(&r.merge);
	*events = r.events;
	r.said ^= r.merge.entries ^ r.merge.insane << 32 ^ r.merge.late << 40;
	fake_channel_free(r.channel);
	arena_free(&r.arena);
	return r.said;
}

static void rows_and_pairs_say_what_entries_say(void **state)
{
	uint64_t events[2], all = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		assert_int_equal(walk_all_timed(seed, true, &events[0]), walk_all_timed(seed, false, &events[1]));
		assert_int_equal(events[0], events[1]);
		all += events[0];
	}
	/* Not by seed: a ring that has come to make no sense has no more events. */
	assert_true(all > 100 * 500);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(tickets_order_entries),
		cmocka_unit_test(a_handlers_tickets_come_before_the_interrupted),
		cmocka_unit_test(a_release_without_a_ticket_comes_before_the_next_acquire),
		cmocka_unit_test(nobody_owes_a_release_for_ever),
		cmocka_unit_test(those_who_owe_nothing_leave_a_long_list),
		cmocka_unit_test(only_the_lock_itself_is_waited_for),
		cmocka_unit_test(an_access_of_the_past_comes_behind_such_a_release),
		cmocka_unit_test(an_access_of_the_past_does_not_hurry_tickets),
		cmocka_unit_test(two_that_tell_of_each_other_go_on),
		cmocka_unit_test(a_late_ticket_ends_no_debt),
		cmocka_unit_test(tickets_that_come_twice_do_not_wait_for_each_other),
		cmocka_unit_test(tickets_may_collide),
		cmocka_unit_test(many_rings_take_turns),
		cmocka_unit_test(a_ticket_in_the_making_is_waited_for),
		cmocka_unit_test(a_dead_threads_ticket_is_given_up),
		cmocka_unit_test(a_late_ticket_is_taken_and_counted),
		cmocka_unit_test(a_ring_is_used_again),
		cmocka_unit_test(a_hole_is_skipped),
		cmocka_unit_test(a_hole_that_nobody_waits_for_is_not_skipped),
		cmocka_unit_test(a_sleeping_ticket_is_given_up),
		cmocka_unit_test(a_full_ring_is_relieved),
		cmocka_unit_test(the_dead_lose_nothing_behind_a_hole),
		cmocka_unit_test(nonsense_abandons_its_ring),
		cmocka_unit_test(a_ticket_from_the_future_abandons_its_ring),
		cmocka_unit_test(texts_are_cleaned),
		cmocka_unit_test(absurd_numbers_are_bounded),
		cmocka_unit_test(any_entries_are_survived),
		cmocka_unit_test(any_channel_is_survived),
		cmocka_unit_test(rows_say_what_entries_say),
		cmocka_unit_test(columns_say_what_entries_say),
		cmocka_unit_test(loops_say_what_entries_say),
		cmocka_unit_test(an_open_loop_waits),
		cmocka_unit_test(loops_that_are_none),
		cmocka_unit_test(rows_and_pairs_say_what_entries_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
