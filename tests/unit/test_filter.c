/* SPDX-License-Identifier: MIT */
/*
 * The ownership filter, row by row and granule by granule.
 *
 * The filter decides once for granules that are alike, and changes them together. What it does to any number of bytes
 * must be what it does to each granule by itself. So each random access is done twice, from the same state: by the
 * filter, and by its own decisions for one granule after the other. The state behind it, and what was told, are the
 * same. Blocks (blocks.h) are taken apart for the latter: so they must say what their granules would say.
 * Threads are rings that take turns; the memory lies around the border of two leaves. Where two of them may read at the
 * same time, they do so.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "filter_alone.h"
#include "runtime/os.h"

enum {
	THREADS = 4,
	MEMORY = 1024,
	GRANULES = MEMORY / GRANULE,
	BLOCKS = MEMORY / BLOCK,
	ACCESSES = 60000,
	ENTRIES = 4 * GRANULES,
	SEEDS = 3,
	ROUNDS = 3000,
};

#define START (BORDER - MEMORY / 2)

/* What was told: of the past each granule by itself, in the order of granules. Flags are nobody's business. */

static struct said said[ENTRIES];
static size_t said_count;
static size_t past_entries; /* by which the past was told */
static bool is_deaf;

static void say(uint64_t first, uint64_t second, uint64_t third)
{
	size_t i;

	if (is_deaf)
		return;
	i = said_count++;
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
	past_entries++;
	for (uint64_t i = 0; i < size >> 32; i++)
		say(first + (i * GRANULE << 16), second & ~(uint64_t)WORD_FLAGS, (uint32_t)size);
}

/* The state: rings, words and places. */

struct state {
	struct self ring[THREADS];
	uint64_t words[2 * GRANULES];
	uint32_t places[2 * GRANULES];
	uint64_t block_words[2 * BLOCKS];
	uint32_t block_places[2 * BLOCKS];
	uint16_t patience[BLOCKS];
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

static void copy(void *copy, void *shadow, size_t bytes, bool out)
{
	memcpy(out ? copy : shadow, out ? shadow : copy, bytes);
}

/* The halves of the memory, which are in two leaves. */
static void shadow_copy(struct state *s, bool out)
{
	for (unsigned i = 0; i < 2; i++) {
		uintptr_t at = START + i * (MEMORY / 2);
		char *leaf = leaf_at(at);

		copy(&s->words[i * GRANULES], shadow_words(leaf, at), GRANULES * sizeof(uint64_t), out);
		copy(&s->places[i * GRANULES], shadow_places(leaf, at), GRANULES * sizeof(uint32_t), out);
		copy(&s->block_words[i * BLOCKS], block_words(leaf, at), BLOCKS * sizeof(uint64_t), out);
		copy(&s->block_places[i * BLOCKS], block_places(leaf, at), BLOCKS * sizeof(uint32_t), out);
		copy(&s->patience[i * BLOCKS / 2], block_patience(leaf, at), BLOCKS / 2 * sizeof(uint16_t), out);
	}
}

static void state_save(struct state *to)
{
	for (unsigned i = 0; i < THREADS; i++)
		to->ring[i] = *channel_ring(channel, i);
	shadow_copy(to, true);
	notes_copy_all(to, true);
	memcpy(to->said, said, said_count * sizeof *said);
	to->said_count = said_count;
}

static void state_load(struct state *from)
{
	for (unsigned i = 0; i < THREADS; i++)
		*channel_ring(channel, i) = from->ring[i];
	shadow_copy(from, false);
	notes_copy_all(from, false);
	said_count = 0;
}

/* Granules have words of their own, and their places; that of no access is nobody's business. Returns live blocks. */
static unsigned state_by_granules(struct state *s)
{
	unsigned live = 0;

	for (unsigned i = 0; i < BLOCKS; i++)
		live += s->block_words[2 * i + 1] & BLOCK_LIVE ? 1 : 0;
	for (unsigned i = 0; i < GRANULES; i++) {
		const unsigned of = i / BLOCK_GRANULES;
		const bool marked = s->words[2 * i] == BLOCK_MARK;

		assert_true(marked || !(s->block_words[2 * of + 1] & BLOCK_LIVE));
		for (unsigned k = 2 * i, b = 2 * of; k < 2 * i + 2; k++, b++) {
			s->words[k] = marked ? s->block_words[b] & ~(uint64_t)(b & 1 ? BLOCK_LIVE : 0) : s->words[k];
			s->places[k] = is_none(s->words[k]) ? 0 : marked ? s->block_places[b] : s->places[k];
		}
	}
	return live;
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

	while (!may_take_over(&a->k, r.word[0], r.word[1]) && !may_stay_silent(&a->k, r.word[0], r.word[1]))
		if (!write_told(&a->k, &r))
			return false;
	return true;
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
	const struct telling l = {.from = a->from, .to = a->to};
	bool range = bytes > 16;
	unsigned kind = range ? a->k.write ? ENTRY_WRITE_RANGE : ENTRY_READ_RANGE : a->k.write ? ENTRY_WRITE : ENTRY_READ;

	if (s->familiar < FAMILIAR) {
		s->familiar++;
		if (!range && !a->k.write)
			*noted_at(s, &l) = noted_of(s, &l);
		if (a->k.write && !range && !is_noted(s, &l))
			tell_own_reads(&a->k, &l);
		say(entry_first(kind, ACCESS_KNOWN | (range ? 0 : (unsigned)bytes), a->from),
			entry_second(a->k.place, self_ticks(s)), range ? bytes : 0);
	}
}

static void all_by_granules(void)
{
	for (uintptr_t at = START; at < START + MEMORY; at += GRANULE)
		if (*shadow_words(leaf_at(at), at) == BLOCK_MARK)
			take_out(leaf_at(at), at);
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
	if (a.k.known && goes_without_saying(&a.k) && first_not(&a, at, single_silent) >= a.to) {
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
	x.at += choose(2) ? choose(MEMORY - 1) : choose(2) ? choose(GRANULES) * GRANULE : choose(BLOCKS) * BLOCK;
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

/* Returns how many blocks were live behind it. */
static unsigned access_check(const struct access *x)
{
	static struct state before, rows, singles;
	struct single a = {stroke_of(x->self, x->write, (void *)(uintptr_t)x->pc), x->at, x->at + x->bytes};
	bool told;
	unsigned live;

	said_count = 0;
	state_save(&before);
	told = access_do(x);
	state_save(&rows);
	state_load(&before);
	all_by_granules();
	assert_int_equal(single_access(a), told);
	state_save(&singles);
	state_load(&rows);
	live = state_by_granules(&rows);
	assert_int_equal(state_by_granules(&singles), 0);
	assert_same(&rows, &singles);
	return live;
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

/* Blocks are taken apart so often that none would be live any more. */
static void all_patient(void)
{
	for (uintptr_t at = START; at < START + MEMORY; at += BLOCK)
		*block_patience(leaf_at(at), at) = 0;
}

static void test_rows(void **state)
{
	struct self *s = channel_ring(channel, 0);
	uint64_t live = 0;

	(void)state;
	for (unsigned i = 0; i < ACCESSES; i++) {
		struct access x;

		if (choose(5000) == 0)
			all_patient();
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
		live += access_check(&x);
	}
	assert_true(live > ACCESSES / 4);
}

/*
 * Quick answers for a few bytes anywhere are those that ranges have. The memory is little, so that threads come to their own,
 * and to parts of it.
 */
static bool few_check(const struct access *x)
{
	static struct state before, quickly, range;
	bool quick;

	said_count = 0;
	state_save(&before);
	quick = (x->bytes == 4 ? filter_few_own(x->self, x->at, 4, x->write, x->pc)
			       : filter_few_own(x->self, x->at, 8, x->write, x->pc));
	assert_int_equal(said_count, 0);
	state_save(&quickly);
	state_load(&before);
	access_do(x);
	if (!quick)
		return false;
	assert_int_equal(said_count, 0);
	state_save(&range);
	state_by_granules(&quickly);
	state_by_granules(&range);
	assert_same(&quickly, &range);
	return true;
}

static void test_few(void **state)
{
	const uintptr_t first = START + MEMORY / 4;
	struct self *s = channel_ring(channel, 0);
	unsigned quick[2] = {0}, added = 0; /* of those: writes to bytes that the first granule's word did not speak of */

	(void)state;
	all_by_granules();
	for (unsigned i = 0; i < ACCESSES; i++) {
		struct access x = {s, first + choose(24), choose(2) ? 4 : 8, choose(2), false, 1000 + choose(3)};
		uint64_t *w = shadow_words(leaf_at(x.at), x.at);
		uint64_t more = bytes_in(x.at & ~(uintptr_t)(GRANULE - 1), x.at, x.at + x.bytes);

		if (choose(40) == 0)
			sync(s = channel_ring(channel, choose(8) ? 0 : choose(THREADS)));
		if (choose(200) == 0)
			shadow_forget((void *)first, 32);
		if (choose(4) == 0) {
			x.bytes = 1;
			access_do(&x);
			continue;
		}
		more &= ~*w;
		if (few_check(&x)) {
			quick[x.write]++;
			added += x.write && more;
		}
	}
	assert_true(quick[0] > ACCESSES / 20 && quick[1] > ACCESSES / 20 && added > ACCESSES / 200);
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

/* Blocks. */

static void write_all(struct self *s)
{
	sync(s);
	filter_range(s, START, MEMORY, true, (void *)1000);
}

static unsigned count_live(void)
{
	unsigned live = 0;

	for (uintptr_t at = START; at < START + MEMORY; at += BLOCK)
		live += block_is_live(leaf_at(at), at);
	return live;
}

/* Nothing is known of the memory, and nobody has waited. */
static void anew(void)
{
	shadow_forked();
	lately_forked();
	rings_reset(NOTES);
	is_deaf = true;
}

/* Two threads write in turns, and the blocks become live. */
static void become_live(void)
{
	for (unsigned i = 0; i < 2 + BLOCK_WAITS; i++)
		write_all(channel_ring(channel, i % 2));
	assert_int_equal(count_live(), BLOCKS);
}

/*
 * Memory that one thread writes to is not put together; what is taken apart waits for twice as many writes, after the
 * one that makes its granules alike.
 */
static void test_patience(void **state)
{
	struct self *s;
	unsigned writes = 0;

	(void)state;
	anew();
	for (unsigned i = 0; i < 100; i++)
		write_all(channel_ring(channel, 0));
	assert_int_equal(count_live(), 0);
	become_live();
	s = channel_ring(channel, 0);
	sync(s);
	filter_access(s, START + 8, 8, false, (void *)1000);
	assert_int_equal(count_live(), BLOCKS - 1);
	for (; count_live() < BLOCKS; writes++)
		write_all(channel_ring(channel, 1 + writes % 2));
	assert_int_equal(writes, 1 + 2 * BLOCK_WAITS);
}

/* A thread's own read before its write is part of what a granule says: then it is not put together. */
static void test_own_read_stays(void **state)
{
	static struct state now;
	struct self *s;

	(void)state;
	anew();
	s = channel_ring(channel, 0);
	for (unsigned i = 0; i < 2 * BLOCK_WAITS; i++) {
		write_all(channel_ring(channel, 1));
		sync(channel_ring(channel, 1));
		sync(s);
		filter_range(s, START, MEMORY, false, (void *)1000);
		s->familiar = FAMILIAR;
		assert_false(filter_range(s, START, MEMORY, true, (void *)1000));
		state_save(&now);
		state_by_granules(&now);
		for (unsigned k = 0; k < 2 * GRANULES; k++)
			assert_true(is_own(s, now.words[k]));
	}
}

static void assert_said(size_t i, unsigned kind, unsigned known)
{
	assert_true(i < said_count);
	assert_int_equal(said[i].first & 63, kind);
	assert_int_equal(said[i].first >> 8 & ACCESS_KNOWN, known);
}

/* Another one has written at START, and the thread has learned of something that came later. */
static struct self *who_knows(void)
{
	struct self *s, *other;

	anew();
	s = channel_ring(channel, 0);
	other = channel_ring(channel, 1);
	filter_access(other, START, 4, true, (void *)1000);
	sync(other);
	filter_access(other, START + 256, 4, true, (void *)1000);
	sync(other);
	filter_access(s, START + 256, 4, false, (void *)1001);
	for (unsigned i = 0; i < USUAL; i++)
		s->usual[i] = USUALLY;
	sync(s);
	is_deaf = false;
	said_count = 0;
	return s;
}

/* Before a write that is noted comes what its section has read there, once. */
static void test_noted_once(void **state)
{
	struct self *s = who_knows();

	(void)state;
	filter_access(s, START, 4, false, (void *)1002);
	filter_access(s, START, 4, true, (void *)1003);
	assert_int_equal(said_count, 2);
	assert_said(0, ENTRY_READ, ACCESS_KNOWN);
	assert_said(1, ENTRY_WRITE, ACCESS_KNOWN);
}

static void test_silent_read_before_noted_write(void **state)
{
	struct self *s = who_knows();

	(void)state;
	s->familiar = FAMILIAR;
	filter_access(s, START, 4, false, (void *)1002);
	s->familiar = 0;
	filter_access(s, START, 4, true, (void *)1003);
	assert_int_equal(said_count, 2);
	assert_said(0, ENTRY_PAST, 0);
	assert_said(1, ENTRY_WRITE, ACCESS_KNOWN);
}

/* What was noted in another section says nothing of this one. */
static void test_noted_in_another_section(void **state)
{
	struct self *s = who_knows();

	(void)state;
	filter_access(s, START, 4, false, (void *)1002);
	sync(s);
	filter_access(s, START, 4, false, (void *)1002);
	filter_access(s, START, 4, true, (void *)1003);
	assert_int_equal(said_count, 3);
	assert_said(1, ENTRY_PAST, 0);
	assert_said(2, ENTRY_WRITE, ACCESS_KNOWN);
}

/* What knows nothing of blocks must leave them alone: a mark is nothing that any thread may go on with. */
static void test_marks_are_nobodys(void **state)
{
	(void)state;
	anew();
	become_live();
	for (unsigned i = 0; i < THREADS; i++) {
		struct self *s = channel_ring(channel, i);

		s->fresh = 0;
		for (unsigned write = 0; write < 2; write++) {
			assert_false(filter_quickly(s, START + 1, 1, write, 1000));
			assert_false(filter_quickly(s, START + 2, 2, write, 1000));
			assert_false(filter_quickly(s, START + 4, 4, write, 1000));
			assert_false(filter_quickly(s, START + 8, 8, write, 1000));
			assert_false(filter_quickly(s, START + 16, 16, write, 1000));
		}
	}
	assert_int_equal(count_live(), BLOCKS);
}

/*
 * Memory that two places have written in turn is told place by place, but not for ever. Each granule is told, with its
 * time; the first ones with their own place, the others with that of one of both.
 */
static void test_places_in_turn(void **state)
{
	struct self *writer = channel_ring(channel, 1), *reader = channel_ring(channel, 0);

	(void)state;
	anew();
	writer->fresh = 0;
	for (unsigned i = 0; i < GRANULES; i++)
		filter_access(writer, START + i * GRANULE, GRANULE, true, (void *)(uintptr_t)(1000 + i % 2));
	sync(writer);
	sync(reader);
	is_deaf = false;
	said_count = past_entries = 0;
	assert_true(filter_range(reader, START, MEMORY, false, (void *)2000));
	is_deaf = true;
	assert_int_equal(past_entries, APART + 1);
	assert_int_equal(said_count, GRANULES + 1);
	for (unsigned i = 0; i < GRANULES; i++) {
		assert_int_equal(said[i].first >> 16, START + i * GRANULE);
		assert_int_equal(said[i].second, said[0].second);
		assert_int_equal(said[i].third, 1000 + (i < APART ? i % 2 : 0));
	}
}

/* Numbers of eight bytes, each over the last of the one before. Returns how many were told. */
static unsigned go_through_packed(struct self *s, unsigned step, bool write)
{
	unsigned told = 0;

	for (uintptr_t at = START + 1; at + 8 <= START + MEMORY - GRANULE; at += step)
		told += filter_range(s, at, 8, write, (void *)2000);
	return told;
}

/* All but the last granule, which is written later: who has read that knows of all the others. */
static void write_in_two(struct self *s)
{
	anew();
	s->fresh = 0;
	filter_range(s, START, MEMORY - GRANULE, true, (void *)1000);
	sync(s);
	filter_range(s, START + MEMORY - GRANULE, GRANULE, true, (void *)1000);
	sync(s);
}

static void read_in_two(struct self *s)
{
	sync(s);
	filter_range(s, START + MEMORY - GRANULE, GRANULE, false, (void *)1001);
	s->familiar = FAMILIAR;
	assert_false(filter_range(s, START, MEMORY - GRANULE, false, (void *)1001));
	sync(s);
}

/*
 * Packed data of which a thread knows, or has learned by the first number: the others tell it nothing, though none of them is
 * a whole number of granules; but for those that are told for the rank, which are few. Written by another; read by a third
 * one, too, of which nobody has heard; read by another, and written again. What nobody has heard of and is written over is
 * told once for each granule.
 */
static void test_packed(void **state)
{
	struct self *s = channel_ring(channel, 0), *writer = channel_ring(channel, 1), *reader = channel_ring(channel, 2);
	const unsigned few = 1 + FAMILIAR;

	(void)state;
	for (unsigned step = 1; step <= 8; step++) {
		write_in_two(writer);
		sync(s);
		assert_in_range(go_through_packed(s, step, false), 1, few);

		write_in_two(writer);
		read_in_two(reader);
		sync(s);
		filter_range(s, START + MEMORY - GRANULE, GRANULE, false, (void *)1001);
		assert_in_range(go_through_packed(s, step, false), 0, few);

		write_in_two(s);
		sync(reader);
		assert_true(filter_range(reader, START, MEMORY, false, (void *)1001));
		sync(reader);
		sync(s);
		assert_in_range(go_through_packed(s, step, true), 1, few);

		write_in_two(writer);
		read_in_two(reader);
		sync(s);
		assert_in_range(go_through_packed(s, step, true), 1, GRANULES);
	}
}

/* Parts of blocks, and large stretches, that begin a new life. */
static void test_forget(void **state)
{
	static struct state s;
	const uintptr_t some = START + 3 * BLOCK + 4, end = START + 7 * BLOCK + 12;

	(void)state;
	anew();
	become_live();
	shadow_forget((void *)some, end - some);
	assert_int_equal(count_live(), BLOCKS - 5);
	state_save(&s);
	state_by_granules(&s);
	for (uintptr_t at = START; at < START + MEMORY; at += GRANULE)
		assert_int_equal(s.words[(at - START) / GRANULE * 2] != 0, at < some || at >= end);
	anew();
	become_live();
	shadow_forget((void *)(START - (1 << 20)), (1 << 20) + BLOCK + 4);
	assert_int_equal(count_live(), BLOCKS - 2);
	shadow_forget((void *)(START + BLOCK), 1 << 20);
	assert_int_equal(count_live(), 0);
}

/* Two readers at once, by ranges or by parts. Neither is lost. */

static pthread_barrier_t barrier;

static void *read_parts(void *self)
{
	struct self *s = self;

	pthread_barrier_wait(&barrier);
	for (uintptr_t at = START; at < START + MEMORY; at += 8)
		filter_access(s, at, 8, false, (void *)2000);
	return NULL;
}

static void *read_ranges(void *self)
{
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < 4; i++)
		filter_range(self, START + i * (MEMORY / 4), MEMORY / 4, false, (void *)3000);
	return NULL;
}

static void read_at_once(void *(*first)(void *), void *(*second)(void *))
{
	void *(*const how[2])(void *) = {first, second};
	pthread_t thread[2];

	for (unsigned i = 0; i < 2; i++) {
		sync(channel_ring(channel, 2 + i));
		channel_ring(channel, 2 + i)->notes = NULL;
		assert_int_equal(pthread_create(&thread[i], NULL, how[i], channel_ring(channel, 2 + i)), 0);
	}
	for (unsigned i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

static void assert_two_readers(void)
{
	static struct state s;

	state_save(&s);
	state_by_granules(&s);
	for (unsigned i = 0; i < GRANULES; i++) {
		const uint64_t a = s.words[2 * i], b = s.words[2 * i + 1];

		assert_true(a & READS);
		assert_true((a >> RING_SHIFT == 2 && b >> RING_SHIFT == 3) || (a >> RING_SHIFT == 3 && b >> RING_SHIFT == 2));
		assert_true(time_of(a) >= ring_of(a)->synced && time_of(b) >= ring_of(b)->synced);
	}
}

static void test_at_once(void **state)
{
	(void)state;
	anew();
	pthread_barrier_init(&barrier, NULL, 2);
	for (unsigned i = 0; i < ROUNDS; i++) {
		all_patient();
		become_live();
		read_at_once(i % 3 ? read_ranges : read_parts, i % 3 > 1 ? read_ranges : read_parts);
		assert_two_readers();
	}
	pthread_barrier_destroy(&barrier);
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
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_few), cmocka_unit_test(test_memory),
		cmocka_unit_test(test_looks), cmocka_unit_test(test_patience), cmocka_unit_test(test_own_read_stays),
		cmocka_unit_test(test_noted_once), cmocka_unit_test(test_silent_read_before_noted_write),
		cmocka_unit_test(test_noted_in_another_section), cmocka_unit_test(test_marks_are_nobodys),
		cmocka_unit_test(test_places_in_turn), cmocka_unit_test(test_packed), cmocka_unit_test(test_forget),
		cmocka_unit_test(test_at_once)};

	return cmocka_run_group_tests(tests, start, NULL);
}
