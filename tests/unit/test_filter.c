/* SPDX-License-Identifier: MIT */
/*
 * The ownership filter, row by row and granule by granule.
 *
 * The filter decides once for granules that are alike, and changes them together. What it does to any number of bytes
 * must be what it does to each granule by itself. So each random access is done twice, from the same state: by the
 * filter, and by its own decisions for one granule after the other. The state behind it, and what was told, are the
 * same.
 * Threads are rings that take turns; the memory lies around the border of two leaves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../src/runtime/filter.c"
#include "runtime/os.h"

enum { THREADS = 4, MEMORY = 1024, GRANULES = MEMORY / GRANULE, ACCESSES = 60000, ENTRIES = 4 * GRANULES, SEEDS = 3 };

#define BORDER ((uintptr_t)0x100000000000)
#define START (BORDER - MEMORY / 2)

struct channel *channel;
__thread struct self_hooks self_hooks;
uint16_t frames_calm[1 << CALM_BITS];

void frames_tell_some(struct self *s)
{
	(void)s;
}

void frames_tell_all(struct self *s)
{
	(void)s;
}

void self_tick_over(struct self *s)
{
	(void)s;
}

/* What was told: of the past each granule by itself, in the order of granules. Flags are nobody's business. */

struct said {
	uint64_t first, second, third;
};

static struct said said[ENTRIES];
static size_t said_count;

static void say(uint64_t first, uint64_t second, uint64_t third)
{
	size_t i = said_count++;

	assert_true(i < ENTRIES);
	while (i && (first & 63) == ENTRY_PAST && said[i - 1].first >> 16 > first >> 16) {
		said[i] = said[i - 1];
		i--;
	}
	said[i] = (struct said){first, second, third};
}

void self_put_slow(struct self *s, uint64_t at, uint64_t first, uint64_t second)
{
	(void)s, (void)at;
	say(first, second, 0);
}

void self_put_sized(struct self *s, uint64_t first, uint64_t second, uint64_t size)
{
	(void)s;
	if ((first & 63) != ENTRY_PAST) {
		say(first, second, size);
		return;
	}
	assert_true(size >> 32 == 1 || (second & WORD_BYTES) == WORD_BYTES);
	for (uint64_t i = 0; i < size >> 32; i++)
		say(first + (i * GRANULE << 16), second & ~(uint64_t)WORD_FLAGS, (uint32_t)size);
}

/* The state: rings, words and places. */

struct state {
	struct self ring[THREADS];
	uint64_t words[2 * GRANULES];
	uint32_t places[2 * GRANULES];
	struct note notes[THREADS][GRANULES];
	struct said said[ENTRIES];
	size_t said_count;
};

/* What thread t has noted, in half i: copied out of it, or into it. */
static void notes_copy(struct state *s, unsigned t, unsigned i, bool out)
{
	uintptr_t at = START + i * (MEMORY / 2);
	char *leaf = lately_leaf(channel_ring(channel, t), at);
	struct note *notes = &s->notes[t][i * GRANULES / 2], *here = lately_notes(leaf, at);

	memcpy(out ? notes : here, out ? here : notes, GRANULES / 2 * sizeof *notes);
}

static void notes_copy_all(struct state *s, bool out)
{
	for (unsigned t = 0; t < THREADS; t++)
		for (unsigned i = 0; i < 2; i++)
			notes_copy(s, t, i, out);
}

/* The halves of the memory, which are in two leaves. */
static void state_save(struct state *to)
{
	for (unsigned i = 0; i < THREADS; i++)
		to->ring[i] = *channel_ring(channel, i);
	for (unsigned i = 0; i < 2; i++) {
		uintptr_t at = START + i * (MEMORY / 2);

		memcpy(&to->words[i * GRANULES], shadow_words(leaf_at(at), at), GRANULES * sizeof(uint64_t));
		memcpy(&to->places[i * GRANULES], shadow_places(leaf_at(at), at), GRANULES * sizeof(uint32_t));
	}
	notes_copy_all(to, true);
	memcpy(to->said, said, said_count * sizeof *said);
	to->said_count = said_count;
}

static void state_load(struct state *from)
{
	for (unsigned i = 0; i < THREADS; i++)
		*channel_ring(channel, i) = from->ring[i];
	for (unsigned i = 0; i < 2; i++) {
		uintptr_t at = START + i * (MEMORY / 2);

		memcpy(shadow_words(leaf_at(at), at), &from->words[i * GRANULES], GRANULES * sizeof(uint64_t));
		memcpy(shadow_places(leaf_at(at), at), &from->places[i * GRANULES], GRANULES * sizeof(uint32_t));
	}
	notes_copy_all(from, false);
	said_count = 0;
}

static void assert_same(const struct state *a, const struct state *b)
{
	assert_memory_equal(a->words, b->words, sizeof a->words);
	assert_memory_equal(a->places, b->places, sizeof a->places);
	assert_memory_equal(a->notes, b->notes, sizeof a->notes);
	assert_int_equal(a->said_count, b->said_count);
	assert_memory_equal(a->said, b->said, a->said_count * sizeof *said);
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(a->ring[i].now, b->ring[i].now);
		assert_int_equal(a->ring[i].familiar, b->ring[i].familiar);
		for (unsigned n = 0; n < HEARD; n++)
			assert_int_equal(a->ring[i].heard[n].word, b->ring[i].heard[n].word);
	}
}

/* One granule after the other. */

struct single {
	struct stroke k;
	uintptr_t from, to;
};

static struct row single_at(struct single *a, uintptr_t at)
{
	struct row r = row_at(&a->k, at, a->from, a->to);

	r.count = 1;
	return r;
}

static bool single_silent(struct single *a, uintptr_t at)
{
	struct row r = single_at(a, at);
	uint64_t was[2] = {r.word[0], r.word[1]};
	struct change c;

	return (silent_change(&a->k, was[0], was[1], &c) || (a->k.known && taken_change(&a->k, was[0], was[1], &c))) &&
	       row_change(&r, &c, a->k.place) == 1;
}

static bool single_known(struct single *a, uintptr_t at)
{
	struct row r = single_at(a, at);

	return may_take_over(&a->k, r.word[0], r.word[1]) || may_stay_silent(&a->k, r.word[0], r.word[1]);
}

/* From a granule on, the first one of which it is not so: looking at one twice would settle what was noted in between. */
static uintptr_t first_not(struct single *a, uintptr_t at, bool (*each)(struct single *, uintptr_t))
{
	while (at < a->to && each(a, at))
		at += GRANULE;
	return at;
}

static void single_tell(struct single *a)
{
	struct self *s = a->k.self;

	if (!a->k.known)
		self_tick(s);
	for (uintptr_t at = a->from & ~(uintptr_t)(GRANULE - 1); at < a->to; at += GRANULE) {
		struct row r = single_at(a, at);
		struct pasts pasts = {0};

		if (r.word[0] != PRECISE)
			row_told(&a->k, &r, at, &pasts);
		pasts_tell(s, &pasts);
	}
	s->fresh = 0;
}

/* The first ones of a section are noted, whatever they are known from. */
static void single_note(const struct single *a)
{
	struct self *s = a->k.self;
	size_t bytes = a->to - a->from;
	bool range = bytes > 16;
	unsigned kind = range ? a->k.write ? ENTRY_WRITE_RANGE : ENTRY_READ_RANGE : a->k.write ? ENTRY_WRITE : ENTRY_READ;

	if (s->familiar < FAMILIAR) {
		s->familiar++;
		say(entry_first(kind, ACCESS_KNOWN | (range ? 0 : (unsigned)bytes), a->from),
			entry_second(a->k.place, self_ticks(s)), range ? bytes : 0);
	}
}

static bool single_access(struct single a)
{
	struct self *s = a.k.self;
	uintptr_t at = a.from & ~(uintptr_t)(GRANULE - 1);

	if (!s->fresh)
		at = first_not(&a, at, single_silent);
	if (at >= a.to)
		return false;
	a.k.known = !s->fresh && first_not(&a, at, single_known) >= a.to;
	if (a.k.known && first_not(&a, at, single_silent) >= a.to) {
		single_note(&a);
		return false;
	}
	single_tell(&a);
	return true;
}

/* Random accesses. */

static uint64_t random_state = 1;

static unsigned choose(unsigned n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned)(random_state >> 33) % n;
}

struct access {
	struct self *self;
	uintptr_t at;
	size_t bytes;
	bool write, plain;
	uint32_t pc;
};

/* Few places and long ranges: neighbours are alike. Plain ones are often at the border, where rows end. */
static struct access access_choose(struct self *s)
{
	struct access x = {s, START, 0, choose(3) == 0, choose(2), 1000 + choose(3)};

	if (x.plain) {
		x.bytes = (size_t)1 << choose(5);
		x.at = choose(2) ? START + choose(MEMORY / 16) * 16 : BORDER - 16;
		x.at += choose((unsigned)(16 / x.bytes)) * x.bytes;
		return x;
	}
	x.at += choose(2) ? choose(MEMORY - 1) : choose(GRANULES) * GRANULE;
	x.bytes = 1 + choose((unsigned)(START + MEMORY - x.at));
	return x;
}

static bool access_do(const struct access *x)
{
	bool told = (x->plain ? filter_access : filter_range)(x->self, x->at, x->bytes, x->write,
		(void *)(uintptr_t)x->pc);

	if (told) /* the access itself is the last */
		said_count--;
	return told;
}

static void access_check(const struct access *x)
{
	static struct state before, rows, singles;
	struct single a = {stroke_of(x->self, x->write, (void *)(uintptr_t)x->pc), x->at, x->at + x->bytes};
	bool told;

	said_count = 0;
	state_save(&before);
	told = access_do(x);
	state_save(&rows);
	state_load(&before);
	assert_int_equal(single_access(a), told);
	state_save(&singles);
	assert_same(&rows, &singles);
}

/* The same byte of several granules: they are alike, and have no word of all bytes. */
static void stripe_check(struct self *s)
{
	uintptr_t first = BORDER + choose(GRANULES / 4) * GRANULE + choose(GRANULE);
	bool write = choose(2);

	for (unsigned i = 0; i < 8; i++) {
		struct access x = {s, first + i * GRANULE, 1, write, true, 1000};

		access_check(&x);
	}
}

static void sync(struct self *s)
{
	self_tick(s);
	s->synced = self_time(s);
	s->familiar = 0;
}

static void test_rows(void **state)
{
	struct self *s = channel_ring(channel, 0);

	(void)state;
	for (unsigned i = 0; i < ACCESSES; i++) {
		struct access x;

		if (choose(20) == 0)
			sync(s = channel_ring(channel, choose(THREADS)));
		if (choose(400) == 0)
			shadow_forget((void *)(START + choose(GRANULES) * GRANULE), 1 + choose(MEMORY / 2));
		if (choose(10) == 0)
			shadow_forget((void *)(BORDER - GRANULE), GRANULE);
		if (choose(4000) == 0)
			filter_atomic(s, START + choose(GRANULES) * GRANULE, GRANULE);
		if (choose(50) == 0)
			stripe_check(s);
		x = access_choose(s);
		access_check(&x);
	}
}

/* Threads that remember, by notes and by marks too, tell what those without memory tell. */

enum memory { NO_MEMORY, NOTES, MARKS };

static bool is_quick(const struct access *x)
{
	uint32_t pc = x->pc;

	switch (x->plain ? x->bytes : 0) {
	case 1: return filter_is_there(x->self, x->at, 1, x->write) || filter_quickly(x->self, x->at, 1, x->write, pc);
	case 2: return filter_is_there(x->self, x->at, 2, x->write) || filter_quickly(x->self, x->at, 2, x->write, pc);
	case 4: return filter_is_there(x->self, x->at, 4, x->write) || filter_quickly(x->self, x->at, 4, x->write, pc);
	case 8: return filter_is_there(x->self, x->at, 8, x->write) || filter_quickly(x->self, x->at, 8, x->write, pc);
	default: return false;
	}
}

static void rings_reset(enum memory m)
{
	for (unsigned i = 0; i < THREADS; i++) {
		struct self *s = channel_ring(channel, i);

		memset(s, 0, sizeof *s);
		s->mode = MODE_FILTER;
		s->fresh = 1;
		s->own = s->since = s->now = (uint64_t)i << RING_SHIFT | (uint64_t)1 << NOW_SHIFT;
		s->reach = ((uint64_t)(i + 1) << RING_SHIFT) - 1 - s->own;
		s->look = LOOK_FIRST;
		s->lately = m == NO_MEMORY ? NULL : lately_begin(i);
		s->notes = s->lately;
		s->marks = m == NO_MEMORY ? NULL : lately_marks_begin(i);
		for (unsigned n = 0; n < HEARD; n++)
			s->heard[n] = (struct heard){UINT64_MAX, 0, 0};
	}
}

/* All that is told of random accesses, as a number. Mostly reads: that is where two threads only read. */
static uint64_t all_said(enum memory m, uint64_t seed, uint64_t *count)
{
	struct self *s = channel_ring(channel, 0);
	uint64_t sum = 0;

	shadow_forked();
	lately_forked();
	rings_reset(m);
	random_state = seed;
	for (unsigned i = 0; i < ACCESSES; i++) {
		struct access x;

		said_count = 0;
		if (choose(20) == 0) {
			sync(s = channel_ring(channel, choose(THREADS)));
			s->notes = choose(3) || m == NOTES ? s->lately : NULL; /* NULL: as if it had a lock now */
			if (s->marks)
				lately_narrow(s->marks, !s->notes);
		}
		x = access_choose(s);
		x.write = x.write && choose(8) == 0;
		if (m != MARKS || !is_quick(&x))
			(x.plain ? filter_access : filter_range)(s, x.at, x.bytes, x.write, (void *)(uintptr_t)x.pc);
		for (size_t k = 0; k < said_count; k++)
			sum = (sum ^ said[k].first ^ said[k].second << 7 ^ said[k].third) * 0x9e3779b97f4a7c15u + i;
		*count += said_count;
	}
	return sum;
}

static void test_memory(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t count[3] = {0}, without = all_said(NO_MEMORY, seed, &count[0]);

		assert_int_equal(all_said(NOTES, seed, &count[1]), without);
		assert_int_equal(all_said(MARKS, seed, &count[2]), without);
		assert_true(count[0] > ACCESSES / 10 && count[1] == count[0] && count[2] == count[0]);
	}
}

/* A mark is of one look, also when there are no more of them and they begin again. */
static void test_looks(void **state)
{
	struct self *s;
	const uintptr_t none = 0x800; /* where a look alone might look like a mark */

	(void)state;
	rings_reset(MARKS);
	s = channel_ring(channel, 0);
	filter_mark(s, START, 8, true);
	assert_true(filter_is_there(s, START, 8, true) && filter_is_there(s, START, 8, false));
	for (uint32_t i = 0; i < ((uint32_t)1 << 24) + 1000; i++) {
		self_look_anew(s);
		if (!(s->look & LOOK_WRITTEN) || filter_is_there(s, START, 8, false) || filter_is_there(s, none, 4, false))
			fail_msg("look %llx", (unsigned long long)s->look);
	}
	filter_mark(s, START, 8, false);
	assert_true(!filter_is_there(s, START, 8, true) && filter_is_there(s, START, 8, false));
	assert_true(!filter_is_there(s, START + 1, 8, false) && !filter_is_there(s, START + (1 << 22), 8, false));
}

static int start(void **state)
{
	(void)state;
	shadow_start();
	channel = os_map(CHANNEL_PAGE + THREADS * RING_SPAN, -1);
	rings_reset(NOTES);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_memory),
		cmocka_unit_test(test_looks)};

	return cmocka_run_group_tests(tests, start, NULL);
}
