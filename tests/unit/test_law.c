/* SPDX-License-Identifier: MIT */
/*
 * The ownership filter's law: test_law [--count N] [--seed S].
 *
 * Threads without data races access a little memory, in random order. Each access is told to one collector, and given to the
 * filter, which tells another one what it likes. Collectors learn what the checks learn: a thread comes behind whatever it
 * conflicts with, and so behind all that was known there at that time. After each access the thread knows of the others:
 *   of aligned data   the same by both: nothing is missed, and nothing invented
 *   of packed data    whose granules are accessed in parts: by the filter nothing that is not so. What is missed is counted
 * A filter that is silent about nothing would keep the law, too: so it must be silent about most.
 *
 * Threads are rings that take turns. They synchronise when they like, and when the next access would race otherwise; so
 * several may read, or be elsewhere, without a word between them. A sequence that breaks the law is printed, with its seed,
 * after all steps were left out of it that are not needed for that.
 *
 * N sequences for each kind of data and number of threads; then it says what it has counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "filter_alone.h"
#include "runtime/os.h"

enum {
	THREADS = 4,
	MEMORY = 128,
	STEPS = 40,
	ENTRIES = 4 * MEMORY,
	PLACES = 3,
	COUNT = 3000,
};

/* What was told in this step. */

static struct said said[ENTRIES];
static size_t said_count;

static void say(uint64_t first, uint64_t second, uint64_t third)
{
	assert_true(said_count < ENTRIES);
	said[said_count++] = (struct said){first, second, third};
}

void self_put_slow(struct self *s, uint64_t at, uint64_t first, uint64_t second)
{
	(void)s, (void)at;
	say(first, second, 0);
}

void self_put_sized(struct self *s, uint64_t first, uint64_t second, uint64_t size)
{
	(void)s;
	say(first, second, size);
}

/* A collector: who did what last to each byte, and what each thread knows of the others. */

struct known {
	uint64_t time[THREADS];
};

struct mark {
	bool is;
	unsigned thread, step;
	uint64_t time;
	struct known knew;
};

struct last {
	struct mark write, read[THREADS];
};

struct stream {
	bool is_filtered; /* then an access may be one of the past: what its thread knew is found by its time */
	struct last last[MEMORY];
	struct known knows[THREADS];
};

/* What a thread knew from a time on, by the filtered stream. */
struct moment {
	uint64_t time;
	struct known knew;
};

static struct stream full, filtered = {.is_filtered = true};
static struct moment moments[THREADS][STEPS];
static unsigned moment_count[THREADS];

static void known_join(struct known *to, const struct known *from)
{
	for (unsigned u = 0; u < THREADS; u++)
		if (from->time[u] > to->time[u])
			to->time[u] = from->time[u];
}

static struct known known_at(unsigned t, uint64_t time)
{
	for (unsigned i = moment_count[t]; i-- > 0;)
		if (moments[t][i].time <= time)
			return moments[t][i].knew;
	return (struct known){0};
}

static void learn_from(struct known *k, const struct stream *s, unsigned t, const struct mark *m)
{
	struct known knew;

	if (!m->is || m->thread == t)
		return;
	knew = s->is_filtered ? known_at(m->thread, m->time) : m->knew;
	knew.time[m->thread] = m->time;
	known_join(k, &knew);
}

/* An access to some bytes, by a thread at a time. */
struct access {
	unsigned thread, at, bytes;
	bool write;
	uint64_t time;
};

static void learn_from_all(struct known *k, const struct stream *s, const struct access *x)
{
	for (unsigned i = x->at; i < x->at + x->bytes; i++) {
		learn_from(k, s, x->thread, &s->last[i].write);
		for (unsigned u = 0; u < THREADS && x->write; u++)
			learn_from(k, s, x->thread, &s->last[i].read[u]);
	}
}

static void readers_forget(struct last *l)
{
	for (unsigned u = 0; u < THREADS; u++)
		l->read[u].is = false;
}

static void stream_access(struct stream *s, const struct access *x, unsigned step)
{
	struct known k = s->knows[x->thread];
	struct mark m = {true, x->thread, step, x->time, k};

	learn_from_all(&k, s, x);
	k.time[x->thread] = x->time;
	m.knew = s->knows[x->thread] = k;
	for (unsigned i = x->at; i < x->at + x->bytes; i++) {
		*(x->write ? &s->last[i].write : &s->last[i].read[x->thread]) = m;
		if (x->write)
			readers_forget(&s->last[i]);
	}
	if (s->is_filtered)
		moments[x->thread][moment_count[x->thread]++] = (struct moment){x->time, k};
}

/* The past, as conflicts.c takes it. */

static bool is_as_late(const struct mark *m, const struct access *x)
{
	return m->is && m->thread == x->thread && m->time >= x->time;
}

static void past_byte(struct last *l, const struct access *x)
{
	const struct mark m = {.is = true, .thread = x->thread, .time = x->time};
	bool read_since = is_as_late(&l->read[x->thread], x);

	if (is_as_late(&l->write, x))
		return;
	if (x->write)
		l->write = m;
	else if (!read_since)
		l->read[x->thread] = m;
	if (x->write && !read_since)
		readers_forget(l);
}

static bool shows; /* what is told, too: of a sequence that has failed */

static void hear_past(const struct said *e, unsigned at)
{
	struct access x = {(unsigned)(e->second >> RING_SHIFT), at, 1, e->first >> 8 & 1, time_of(e->second)};
	unsigned bytes = e->second >> 4 & 15, granules = (unsigned)(e->third >> 32);

	if (shows)
		print_error("    past: T%u at %#llx has %s %u, bytes %x of %u granules\n", x.thread, (unsigned long long)x.time,
			x.write ? "written" : "read", at, bytes, granules);
	assert_true(granules == 1 || bytes == 15);
	assert_true(at + granules * GRANULE <= MEMORY);
	for (unsigned i = 0; i < granules * GRANULE; i++)
		if (bytes >> i % GRANULE & 1)
			past_byte(&filtered.last[at + i], &x);
}

/* To the checks, what is only noted is as silent as what is not. Returns whether it was told. */
static bool hear_access(const struct said *e, struct access *x, unsigned step)
{
	unsigned kind = e->first & 63, small = e->first >> 8 & 255;

	x->bytes = kind == ENTRY_READ || kind == ENTRY_WRITE ? small & 63 : (unsigned)e->third;
	x->write = kind == ENTRY_WRITE || kind == ENTRY_WRITE_RANGE;
	if (shows)
		print_error("    %s\n", small & ACCESS_KNOWN ? "noted" : "told");
	if (small & ACCESS_KNOWN)
		return false;
	stream_access(&filtered, x, step);
	return true;
}

static uintptr_t base; /* where the memory is */

/* Returns whether the access itself was told. */
static bool hear(unsigned t, uint64_t time, unsigned step)
{
	bool told = false;

	for (size_t i = 0; i < said_count; i++) {
		struct access x = {.thread = t, .at = (unsigned)((said[i].first >> 16) - base), .time = time};

		if ((said[i].first & 63) == ENTRY_PAST)
			hear_past(&said[i], x.at);
		else
			told |= hear_access(&said[i], &x, step);
	}
	said_count = 0;
	return told;
}

/* Order: which steps of others come before what a thread does now; all synchronise by the same thing. */

struct order {
	unsigned before[THREADS];
};

static struct order seen[THREADS], given;
static uint64_t ticket;

static void order_join(struct order *to, const struct order *from)
{
	for (unsigned u = 0; u < THREADS; u++)
		if (from->before[u] > to->before[u])
			to->before[u] = from->before[u];
}

/* The thread has locks now, or has none: see lately.h. */
static void hold(struct self *s, bool held)
{
	s->notes = held ? NULL : s->lately;
	lately_narrow(s->marks, held);
	self_set_synced(s, self_time(s));
	s->familiar = 0;
}

/* Something with a ticket: times of all threads go on from there. */
static void take_ticket(unsigned t)
{
	self_set_now(channel_ring(channel, t), (uint64_t)t << RING_SHIFT | (++ticket << TICK_BITS | 1) << NOW_SHIFT);
}

/* As a lock that is taken. */
static void acquire(unsigned t)
{
	order_join(&seen[t], &given);
	take_ticket(t);
	hold(channel_ring(channel, t), true);
}

/* As a lock that is given back without a ticket. */
static void release(unsigned t, unsigned step)
{
	struct self *s = channel_ring(channel, t);

	seen[t].before[t] = step;
	order_join(&given, &seen[t]);
	self_tick(s);
	self_tick(s);
	hold(s, false);
}

static bool races(const struct mark *m, unsigned t)
{
	return m->is && m->thread != t && m->step >= seen[t].before[m->thread];
}

/* Whoever the access would race with gives, and its thread takes. */
static void part(const struct mark *m, unsigned t, unsigned step)
{
	if (!races(m, t))
		return;
	if (shows)
		print_error("  T%u releases, T%u acquires\n", m->thread, t);
	release(m->thread, step);
	acquire(t);
}

static void part_all(const struct access *x, bool alone, unsigned step)
{
	for (unsigned i = x->at; i < x->at + x->bytes; i++) {
		part(&full.last[i].write, x->thread, step);
		for (unsigned u = 0; u < THREADS && alone; u++)
			part(&full.last[i].read[u], x->thread, step);
	}
}

/* Sequences. */

/* ANEW: the memory begins a new life before. */
enum flags { ACQUIRE = 1, RELEASE = 2, IN_FULL = 4, QUICK = 8, ATOMIC = 16, ANEW = 32, FLAGS = 6 };

struct step {
	struct access x;
	unsigned flags;
	uint32_t pc;
};

/* Aligned: granules as a whole, parts that are alone in theirs, ranges. Packed: a few bytes anywhere, ranges too. */
enum data { WHOLE, PARTS, RANGES, PACKED, PACKED_RANGES };

struct sequence {
	enum data data;
	unsigned threads;
	uint64_t seed;
	size_t count;
	struct step step[STEPS];
};

enum outcome { SAME, MISSED, INVENTED };

static uint64_t random_state;

static unsigned choose(unsigned n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned)(random_state >> 33) % n;
}

static bool is_packed(enum data data)
{
	return data >= PACKED;
}

static unsigned memory_of(enum data data)
{
	return data == RANGES || data == PACKED_RANGES ? MEMORY : 16;
}

/* The same part of a granule each time. */
static void part_choose(struct access *x)
{
	static const unsigned at[] = {0, 5, 8, 15}, bytes[] = {4, 1, 2, 1};
	unsigned i = choose(4);

	x->at = at[i];
	x->bytes = bytes[i];
}

/* Multiples of the unit, so many at most. */
static void bytes_choose(struct access *x, unsigned unit, unsigned most, unsigned memory)
{
	x->bytes = unit * (1 + choose(most));
	x->at = unit * choose((memory - x->bytes) / unit + 1);
}

/* Few ranges, so that some are met again as a whole: then there are blocks. */
static void range_choose(struct access *x, unsigned unit)
{
	if (choose(3) == 0)
		bytes_choose(x, BLOCK, MEMORY / BLOCK, MEMORY);
	else
		bytes_choose(x, unit, choose(2) ? 16 / unit : MEMORY / unit, MEMORY);
}

static void place_choose(struct access *x, enum data data)
{
	switch (data) {
	case WHOLE: bytes_choose(x, GRANULE, 1u << choose(3), 16); break;
	case PARTS: part_choose(x); break;
	case RANGES: range_choose(x, GRANULE); break;
	case PACKED: bytes_choose(x, 1, choose(2) ? 4 : 8, 16); break;
	case PACKED_RANGES: range_choose(x, 1); break;
	}
}

/* How much there is of what in a sequence: one in so many. */
struct taste {
	unsigned writes, syncs, atomics, lives;
};

static struct taste taste_choose(void)
{
	const unsigned never = 1 << 30;

	return (struct taste){2 + choose(4), 2 + choose(8), choose(4) ? never : 30, choose(4) ? never : 20};
}

static unsigned flags_choose(const struct taste *c)
{
	const unsigned one_in[FLAGS] = {c->syncs, c->syncs, 8, 2, c->atomics, c->lives};
	unsigned flags = 0;

	for (unsigned i = 0; i < FLAGS; i++)
		flags |= (choose(one_in[i]) == 0) << i;
	return flags;
}

static void sequence_choose(struct sequence *q)
{
	struct taste c;

	random_state = q->seed * 0x9e3779b97f4a7c15u;
	choose(2);
	c = taste_choose();
	q->count = STEPS;
	for (struct step *p = q->step; p < q->step + STEPS; p++) {
		p->x = (struct access){.thread = choose(q->threads), .write = choose(c.writes) == 0};
		if (p > q->step && choose(2))
			p->x.thread = p[-1].x.thread;
		place_choose(&p->x, q->data);
		p->flags = flags_choose(&c);
		p->pc = 1000 + choose(3);
	}
}

/* One sequence from the start. */

static void ring_reset(unsigned t)
{
	struct self *s = channel_ring(channel, t);
	const struct self before = *s;

	memset(s, 0, sizeof *s);
	s->mode = MODE_FILTER;
	s->own = s->since = s->now = (uint64_t)t << RING_SHIFT | (uint64_t)1 << NOW_SHIFT;
	s->reach = ((uint64_t)(t + 1) << RING_SHIFT) - 1 - s->own;
	s->lately = s->notes = before.lately;
	s->marks = before.marks;
	s->look = before.look; /* marks of what was before are of other looks */
	self_set_now(s, s->now);
	for (unsigned n = 0; n < HEARD; n++)
		s->heard[n] = (struct heard){UINT64_MAX, 0, 0};
}

static void granule_reset(uintptr_t at)
{
	char *leaf = leaf_at(at);

	memset(shadow_words(leaf, at), 0, 2 * sizeof(uint64_t));
	memset(shadow_places(leaf, at), 0, 2 * sizeof(uint32_t));
	memset(block_words(leaf, at), 0, 2 * sizeof(uint64_t));
	memset(block_places(leaf, at), 0, 2 * sizeof(uint32_t));
	*block_patience(leaf, at) = 0;
	for (unsigned t = 0; t < THREADS; t++)
		memset(lately_notes(lately_leaf(channel_ring(channel, t), at), at), 0, sizeof(struct note));
}

static void stream_reset(struct stream *s)
{
	memset(s->last, 0, sizeof s->last);
	memset(s->knows, 0, sizeof s->knows);
}

/* In one leaf, around the border of two, or of two windows. */
static uintptr_t base_of(const struct sequence *q)
{
	const uintptr_t half = memory_of(q->data) / 2, places[PLACES] = {BORDER + MEMORY, BORDER - half, BORDER + WINDOW - half};

	return places[q->seed % PLACES];
}

static void reset(const struct sequence *q)
{
	base = base_of(q);
	for (unsigned t = 0; t < THREADS; t++)
		ring_reset(t);
	for (uintptr_t at = base; at < base + memory_of(q->data); at += GRANULE)
		granule_reset(at);
	stream_reset(&full);
	stream_reset(&filtered);
	memset(moment_count, 0, sizeof moment_count);
	memset(seen, 0, sizeof seen);
	memset(&given, 0, sizeof given);
	ticket = said_count = 0;
}

static bool is_plain(const struct access *x)
{
	return x->bytes <= 16 && !(x->bytes & (x->bytes - 1)) && !((base + x->at) & (x->bytes - 1));
}

/* As the hooks do. */
static bool is_quick(struct self *s, const struct access *x, uint32_t pc)
{
	uintptr_t at = base + x->at;

	switch (is_plain(x) ? x->bytes : 0) {
	case 1: return filter_is_there(s, at, 1, x->write) || filter_quickly(s, at, 1, x->write, pc);
	case 2: return filter_is_there(s, at, 2, x->write) || filter_quickly(s, at, 2, x->write, pc);
	case 4: return filter_is_there(s, at, 4, x->write) || filter_quickly(s, at, 4, x->write, pc);
	case 8: return filter_is_there(s, at, 8, x->write) || filter_quickly(s, at, 8, x->write, pc);
	case 16: return filter_is_there(s, at, 16, x->write) || filter_quickly(s, at, 16, x->write, pc);
	}
	switch (x->bytes) {
	case 4: return filter_few_own(s, at, 4, x->write, pc) || filter_few_quickly(s, at, 4, x->write, pc);
	case 8: return filter_few_own(s, at, 8, x->write, pc) || filter_few_quickly(s, at, 8, x->write, pc);
	default: return filter_few_quickly(s, at, x->bytes, x->write, pc);
	}
}

static bool is_of_granules(const struct access *x)
{
	return !(x->at % GRANULE) && !(x->bytes % GRANULE);
}

static void begin_anew(const struct access *x)
{
	shadow_forget((void *)(base + x->at), x->bytes);
	take_ticket(x->thread);
	memset(&full.last[x->at], 0, x->bytes * sizeof *full.last);
	memset(&filtered.last[x->at], 0, x->bytes * sizeof *filtered.last);
}

static void to_filter(struct self *s, const struct step *p)
{
	const struct access *x = &p->x;

	s->usual[p->pc % USUAL] = p->flags & IN_FULL ? 0 : USUALLY;
	if (p->flags & QUICK && is_quick(s, x, p->pc))
		return;
	(is_plain(x) ? filter_access : filter_range)(s, base + x->at, x->bytes, x->write, (void *)(uintptr_t)p->pc);
}

static void step_show(const struct step *p)
{
	static const char *const names[FLAGS] = {"acquires before", "releases behind", "in full", "quick", "atomic", "anew"};

	print_error("  T%u %s %u, %u bytes, place %u", p->x.thread, p->x.write ? "writes" : "reads", p->x.at, p->x.bytes, p->pc);
	for (unsigned i = 0; i < FLAGS; i++)
		if (p->flags >> i & 1)
			print_error(", %s", names[i]);
	print_error("\n");
}

static unsigned long long silent, steps; /* of all */

static enum outcome compare(unsigned t)
{
	enum outcome so_far = SAME;

	for (unsigned u = 0; u < THREADS; u++) {
		uint64_t is = full.knows[t].time[u], said_to_be = filtered.knows[t].time[u];

		if (u == t || is == said_to_be)
			continue;
		if (shows)
			print_error("    T%u knows T%u at %#llx instead of %#llx\n", t, u, (unsigned long long)said_to_be,
				(unsigned long long)is);
		so_far = said_to_be > is ? INVENTED : so_far == SAME ? MISSED : so_far;
	}
	return so_far;
}

/* Has a ticket, and is told to both. */
static void atomic_do(struct access *x, unsigned n)
{
	filter_atomic(channel_ring(channel, x->thread), base + x->at, x->bytes);
	hear(x->thread, 0, n);
	take_ticket(x->thread);
	x->time = ticket << TICK_BITS;
	stream_access(&filtered, x, n);
	hold(channel_ring(channel, x->thread), false);
}

static void plain_do(struct access *x, const struct step *p, unsigned n)
{
	struct self *s = channel_ring(channel, x->thread);

	to_filter(s, p);
	x->time = self_time(s);
	steps++;
	silent += !hear(x->thread, x->time, n);
}

static enum outcome step_do(const struct step *p, unsigned n)
{
	struct access x = p->x;
	bool anew = p->flags & ANEW && is_of_granules(&x);

	part_all(&x, x.write || anew, n);
	if (shows)
		step_show(p);
	if (p->flags & ACQUIRE)
		acquire(x.thread);
	if (anew)
		begin_anew(&x);
	if (p->flags & ATOMIC && is_plain(&x))
		atomic_do(&x, n);
	else
		plain_do(&x, p, n);
	stream_access(&full, &x, n);
	if (p->flags & RELEASE)
		release(x.thread, n + 1);
	return compare(x.thread);
}

/* Until the law is broken. Of packed data something may be missed, and it goes on. */
static enum outcome sequence_do(const struct sequence *q)
{
	enum outcome worst = SAME, now;

	reset(q);
	for (size_t i = 0; i < q->count; i++) {
		now = step_do(&q->step[i], (unsigned)i + 1);
		worst = now > worst ? now : worst;
		if (worst == INVENTED || (worst == MISSED && !is_packed(q->data)))
			break;
	}
	return worst;
}

/* Smaller ones that break it in the same way. */

static bool is_still(const struct sequence *smaller, struct sequence *q, enum outcome wanted)
{
	if (sequence_do(smaller) != wanted)
		return false;
	*q = *smaller;
	return true;
}

static bool step_leave_out(struct sequence *q, size_t i, enum outcome wanted)
{
	struct sequence smaller = *q;

	smaller.count--;
	memmove(&smaller.step[i], &smaller.step[i + 1], (smaller.count - i) * sizeof *smaller.step);
	return is_still(&smaller, q, wanted);
}

static void flags_leave_out(struct sequence *q, size_t i, enum outcome wanted)
{
	for (unsigned flag = 1; flag < 1 << FLAGS; flag <<= 1) {
		struct sequence plainer = *q;

		plainer.step[i].flags &= ~flag;
		is_still(&plainer, q, wanted);
	}
}

static void shrink(struct sequence *q, enum outcome wanted)
{
	size_t before;

	do {
		before = q->count;
		for (size_t i = q->count; i-- > 0;)
			if (!step_leave_out(q, i, wanted))
				flags_leave_out(q, i, wanted);
	} while (q->count < before);
}

static void report(struct sequence *q, enum outcome how)
{
	static const char *const names[] = {"whole granules", "parts of granules", "ranges", "packed data", "packed ranges"};

	shrink(q, how);
	print_error("seed %llu, %u threads, %s: %s\n", (unsigned long long)q->seed, q->threads, names[q->data],
		how == MISSED ? "missed" : "invented");
	shows = true;
	sequence_do(q);
	shows = false;
}

/* The tests. */

static unsigned long long count = COUNT, first_seed = 1;
static bool says; /* what it has counted */

static void check(enum data data, unsigned threads)
{
	static struct sequence q;
	unsigned long long missed = 0;

	silent = steps = 0;
	for (uint64_t i = 0; i < count; i++) {
		enum outcome how;

		q.data = data;
		q.threads = threads;
		q.seed = first_seed + i;
		sequence_choose(&q);
		how = sequence_do(&q);
		if (how == INVENTED || (how == MISSED && !is_packed(data))) {
			report(&q, how);
			fail();
		}
		missed += how == MISSED;
	}
	if (says)
		print_message("%u threads: %llu sequences, %llu of %llu accesses silent, something missed in %llu\n", threads, count,
			silent, steps, missed);
	assert_true(silent > steps / 4);
	assert_true(missed <= count * 3 / 5);
}

static void check_all(enum data data)
{
	for (unsigned threads = 2; threads <= THREADS; threads++)
		check(data, threads);
}

static void test_whole(void **state)
{
	(void)state;
	check_all(WHOLE);
}

static void test_parts(void **state)
{
	(void)state;
	check_all(PARTS);
}

static void test_ranges(void **state)
{
	(void)state;
	check_all(RANGES);
}

static void test_packed(void **state)
{
	(void)state;
	check_all(PACKED);
}

static void test_packed_ranges(void **state)
{
	(void)state;
	check_all(PACKED_RANGES);
}

/*
 * What a thread tells although it takes it for known, and the collector learns from, is behind what the thread has told
 * before: others that learn from that must not come behind it all. Random sequences that show it are too rare.
 */

static void not_invented(struct sequence *q)
{
	if (sequence_do(q) != INVENTED)
		return;
	report(q, INVENTED);
	fail();
}

/* T2's read of 8, and its read of 13. */
static void test_known_read(void **state)
{
	static struct sequence q = {PACKED, 4, 0, 7, {
		{{3, 3, 4, false}, ACQUIRE | RELEASE, 1000},
		{{0, 9, 4, true}, ACQUIRE, 1000},
		{{0, 7, 2, true}, ACQUIRE | QUICK, 1000},
		{{0, 5, 4, false}, QUICK | RELEASE, 1000},
		{{2, 9, 5, false}, ACQUIRE | QUICK, 1000},
		{{2, 8, 1, false}, IN_FULL | QUICK | RELEASE, 1000},
		{{1, 13, 2, true}, ACQUIRE, 1000},
	}};

	(void)state;
	not_invented(&q);
}

/* T0's write of 11, and its write of 1. */
static void test_known_write(void **state)
{
	static struct sequence q = {PACKED, 3, 0, 10, {
		{{1, 6, 5, true}, QUICK, 1000},
		{{1, 9, 4, false}, QUICK, 1000},
		{{1, 11, 3, true}, QUICK, 1000},
		{{1, 5, 4, false}, ACQUIRE | IN_FULL | RELEASE, 1000},
		{{2, 12, 3, true}, ACQUIRE | RELEASE, 1000},
		{{1, 9, 4, false}, ACQUIRE | RELEASE, 1000},
		{{0, 10, 5, false}, ACQUIRE | IN_FULL | QUICK, 1000},
		{{0, 0, 5, true}, QUICK, 1000},
		{{0, 11, 1, true}, IN_FULL | RELEASE, 1000},
		{{2, 1, 3, true}, ACQUIRE | QUICK, 1000},
	}};

	(void)state;
	not_invented(&q);
}

static int start(void **state)
{
	(void)state;
	shadow_start();
	channel = os_map(CHANNEL_PAGE + THREADS * RING_SPAN, -1);
	for (unsigned t = 0; t < THREADS; t++) {
		struct self *s = channel_ring(channel, t);

		s->lately = lately_begin(t);
		s->marks = lately_marks_begin(t);
		s->look = LOOK_FIRST;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole), cmocka_unit_test(test_parts),
		cmocka_unit_test(test_ranges), cmocka_unit_test(test_packed), cmocka_unit_test(test_packed_ranges),
		cmocka_unit_test(test_known_read), cmocka_unit_test(test_known_write)};

	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--count") == 0)
			count = strtoull(argv[i + 1], NULL, 10);
		if (strcmp(argv[i], "--seed") == 0)
			first_seed = strtoull(argv[i + 1], NULL, 10);
		says = true;
	}
	return cmocka_run_group_tests(tests, start, NULL);
}
