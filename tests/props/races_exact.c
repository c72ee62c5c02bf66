/* SPDX-License-Identifier: MIT */
/*
 * `races` against the definition of a race, on small random traces.
 *
 *   races_exact [--count N] [--seed S]
 *
 * Happens-before is made here from docs/traces.md and the C11 standard, edge by edge, as a relation and without clocks:
 * program order; fork and join; a release to the later acquires that it keeps out; arrivals to departures; posts to
 * later waits; and an atomic's release, or a release fence before it, to an acquire that reads from it or from a row of
 * read-modify-writes behind it, or to an acquire fence after such a load. A byte has a race at the first access that is
 * not after some earlier one that it conflicts with, in each of its lives. The check must name exactly these accesses,
 * an earlier one that is really not before it, and the last access to what has raced.
 *
 * Traces are those of random_trace.h, with some accesses made atomic or turned into fences. Atomics that overlap without
 * being the same have no meaning in C11: such traces are left out, and counted.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/opts.h"
#include "base/rng.h"
#include "check/check.h"
#include "check/run.h"
#include "event/tables.h"
#include "finding/finding.h"
#include "random_trace.h"

enum { STEPS_MOST = 2 * RANDOM_TRACE_MOST, BYTES_MOST = 64, SYNCS_MOST = 16, THREADS_MOST = 16 };

/* What a step is: an event's kind, or the departure from a barrier, or nothing that orders. */
enum { DEPARTURE = EVENT_KINDS, NOTHING };

typedef unsigned __int128 steps_set;

struct step {
	int kind;
	thread_id thread;
	uint64_t object; /* for a barrier its round */
	const struct event *event;
	steps_set before, learned; /* learned: what reading it teaches whoever acquires */
};

struct byte {
	bool addressed;
	uint64_t at;
};

struct thread {
	uint64_t mutex, round; /* of a wait, of a barrier, that it is in; 0 for none */
	unsigned depth;        /* of the wait's mutex */
};

struct sync {
	unsigned held[THREADS_MOST];
	bool shared;
	uint64_t arrived, rounds;
};

struct story {
	struct step step[STEPS_MOST];
	size_t count;
	struct byte byte[BYTES_MOST];
	size_t bytes;
	struct thread thread[THREADS_MOST];
	struct sync sync[SYNCS_MOST];
	uint64_t rounds;
};

static steps_set bit(size_t i)
{
	return (steps_set)1 << i;
}

static bool has(steps_set s, size_t i)
{
	return s >> i & 1;
}

/* ---- Steps. ---- */

static struct step *step_add(struct story *s, const struct event *e, int kind, uint64_t object)
{
	s->step[s->count] = (struct step){.kind = kind, .thread = e->thread, .object = object, .event = e};
	return &s->step[s->count++];
}

/* What the thread does right before its event: it leaves what it was waiting in. */
static void leave(struct story *s, const struct event *e)
{
	struct thread *t = &s->thread[e->thread];

	if (t->mutex) {
		step_add(s, e, EVENT_ACQUIRE, t->mutex);
		s->sync[t->mutex].held[e->thread] = t->depth;
		s->sync[t->mutex].shared = false;
	}
	if (t->round)
		step_add(s, e, DEPARTURE, t->round);
	t->mutex = t->round = 0;
}

static void add_acquire(struct story *s, const struct event *e)
{
	struct sync *m = &s->sync[e->object];

	m->shared = e->kind == EVENT_ACQUIRE_SHARED;
	step_add(s, e, m->held[e->thread]++ ? NOTHING : e->kind, e->object);
}

static void add_release(struct story *s, const struct event *e)
{
	struct sync *m = &s->sync[e->object];

	step_add(s, e, --m->held[e->thread] ? NOTHING : m->shared ? EVENT_RELEASE_SHARED : EVENT_RELEASE, e->object);
}

static void add_wait(struct story *s, const struct event *e)
{
	struct thread *t = &s->thread[e->thread];

	t->mutex = e->mutex;
	t->depth = s->sync[e->mutex].held[e->thread];
	s->sync[e->mutex].held[e->thread] = 0;
	step_add(s, e, EVENT_RELEASE, e->mutex);
}

static void add_arrival(struct story *s, const struct event *e)
{
	struct sync *b = &s->sync[e->object];

	if (b->arrived == 0)
		b->rounds = ++s->rounds;
	s->thread[e->thread].round = b->rounds;
	step_add(s, e, EVENT_BARRIER, b->rounds);
	if (++b->arrived == e->count)
		b->arrived = 0;
}

static void steps_make(struct story *s, const struct event *events, size_t n)
{
	for (const struct event *e = events; e < events + n; e++) {
		leave(s, e);
		switch (e->kind) {
		case EVENT_ACQUIRE:
		case EVENT_ACQUIRE_SHARED: add_acquire(s, e); break;
		case EVENT_RELEASE:
		case EVENT_RELEASE_SHARED: add_release(s, e); break;
		case EVENT_WAIT: add_wait(s, e); break;
		case EVENT_BARRIER: add_arrival(s, e); break;
		default: step_add(s, e, e->kind, e->object); break;
		}
	}
}

/* ---- Bytes. ---- */

static bool touches(const struct event *e, struct byte b)
{
	uint64_t size = e->kind == EVENT_ALLOC ? e->count : e->flags & EVENT_SIZED ? e->size : 1;

	if (!event_is_access(e->kind) && (e->kind != EVENT_ALLOC || !(e->flags & EVENT_ADDRESSED)))
		return false;
	if (b.addressed != !!(e->flags & EVENT_ADDRESSED))
		return false;
	return b.addressed ? b.at >= e->object && b.at - e->object < size : b.at == e->object;
}

static void byte_add(struct story *s, struct byte b)
{
	for (size_t i = 0; i < s->bytes; i++)
		if (s->byte[i].addressed == b.addressed && s->byte[i].at == b.at)
			return;
	if (s->bytes == BYTES_MOST)
		die(STATUS_TOOL, "races_exact: more than %d bytes", BYTES_MOST);
	s->byte[s->bytes++] = b;
}

static void bytes_make(struct story *s, const struct event *events, size_t n)
{
	for (const struct event *e = events; e < events + n; e++)
		for (uint64_t i = 0; event_is_access(e->kind) && i < (e->flags & EVENT_SIZED ? e->size : 1); i++)
			byte_add(s, (struct byte){e->flags & EVENT_ADDRESSED, e->object + i});
}

/* ---- Atomics. ---- */

static bool is_atomic(int kind)
{
	return kind == EVENT_ATOMIC_LOAD || kind == EVENT_ATOMIC_STORE || kind == EVENT_ATOMIC_RMW;
}

static bool acquires(const struct step *s)
{
	uint8_t o = s->event->order;

	return (s->kind == EVENT_ATOMIC_LOAD || s->kind == EVENT_ATOMIC_RMW || s->kind == EVENT_ATOMIC_FENCE) &&
	       (o == ORDER_ACQUIRE || o == ORDER_CONSUME || o == ORDER_ACQ_REL || o == ORDER_SEQ_CST);
}

static bool releases(const struct step *s)
{
	uint8_t o = s->event->order;

	return (s->kind == EVENT_ATOMIC_STORE || s->kind == EVENT_ATOMIC_RMW || s->kind == EVENT_ATOMIC_FENCE) &&
	       (o == ORDER_RELEASE || o == ORDER_ACQ_REL || o == ORDER_SEQ_CST);
}

static bool writes_atomically(const struct step *s)
{
	return s->kind == EVENT_ATOMIC_STORE || s->kind == EVENT_ATOMIC_RMW;
}

/* The last step before `i` that changed what an atomic of the byte reads, or STEPS_MOST. */
static size_t source_of(const struct story *s, struct byte b, size_t i)
{
	while (i-- > 0)
		if ((writes_atomically(&s->step[i]) || s->step[i].kind == EVENT_ALLOC) &&
			touches(s->step[i].event, b))
			return i;
	return STEPS_MOST;
}

static bool overlaps_partly(const struct story *s, const struct event *a, const struct event *b)
{
	bool both = false, one = false;

	for (size_t i = 0; i < s->bytes; i++) {
		both |= touches(a, s->byte[i]) && touches(b, s->byte[i]);
		one |= touches(a, s->byte[i]) != touches(b, s->byte[i]);
	}
	return both && one;
}

/* Whether atomics are objects: those that overlap are the same, and all bytes of one have one past. */
static bool has_meaning(const struct story *s)
{
	for (size_t i = 0; i < s->count; i++)
		for (size_t k = 0; k < i && is_atomic(s->step[i].kind); k++)
			if (is_atomic(s->step[k].kind) && overlaps_partly(s, s->step[i].event, s->step[k].event))
				return false;
	for (size_t i = 0; i < s->count; i++) {
		size_t common = 0;
		bool first = true;

		for (size_t b = 0; is_atomic(s->step[i].kind) && b < s->bytes; b++) {
			if (!touches(s->step[i].event, s->byte[b]))
				continue;
			if (!first && source_of(s, s->byte[b], i) != common)
				return false;
			common = source_of(s, s->byte[b], i);
			first = false;
		}
	}
	return true;
}

/* The step that an atomic write makes visible: itself, or the last release fence before it. */
static steps_set released_by(const struct story *s, size_t i)
{
	thread_id t = s->step[i].thread;

	if (releases(&s->step[i]))
		return bit(i);
	while (i-- > 0)
		if (s->step[i].thread == t && s->step[i].kind == EVENT_ATOMIC_FENCE && releases(&s->step[i]))
			return bit(i);
	return 0;
}

/* What a load of the byte at step i reads, and all that this goes on with. */
static steps_set release_sequences(const struct story *s, struct byte b, size_t i)
{
	steps_set all = 0;

	while ((i = source_of(s, b, i)) != STEPS_MOST && s->step[i].kind != EVENT_ALLOC) {
		all |= released_by(s, i);
		if (s->step[i].kind == EVENT_ATOMIC_STORE)
			break;
	}
	return all;
}

static steps_set learned_at(const struct story *s, size_t i)
{
	steps_set all = 0;

	if (s->step[i].kind != EVENT_ATOMIC_LOAD && s->step[i].kind != EVENT_ATOMIC_RMW)
		return 0;
	for (size_t b = 0; b < s->bytes; b++)
		if (touches(s->step[i].event, s->byte[b]))
			all |= release_sequences(s, s->byte[b], i);
	return all;
}

/* ---- Happens-before. ---- */

static bool is_before_directly(const struct story *s, size_t i, size_t k)
{
	const struct step *a = &s->step[i], *b = &s->step[k];

	if (a->thread == b->thread)
		return true;
	if (a->kind == EVENT_FORK && (a->object == b->thread || (b->kind == EVENT_JOIN && a->object == b->object)))
		return true;
	if (b->kind == EVENT_JOIN && b->object == a->thread)
		return true;
	if (a->object != b->object)
		return false;
	return (a->kind == EVENT_RELEASE && (b->kind == EVENT_ACQUIRE || b->kind == EVENT_ACQUIRE_SHARED)) ||
	       (a->kind == EVENT_RELEASE_SHARED && b->kind == EVENT_ACQUIRE) ||
	       (a->kind == EVENT_BARRIER && b->kind == DEPARTURE) ||
	       (a->kind == EVENT_SEM_POST && b->kind == EVENT_SEM_WAIT);
}

/* What step k acquires by atomics: by itself, or as a fence by what its thread has read before. */
static steps_set acquired_at(const struct story *s, size_t k)
{
	steps_set all = s->step[k].learned;

	if (!acquires(&s->step[k]))
		return 0;
	for (size_t i = 0; s->step[k].kind == EVENT_ATOMIC_FENCE && i < k; i++)
		if (s->step[i].thread == s->step[k].thread)
			all |= s->step[i].learned;
	return all;
}

/* Edges lead forward, so one pass closes the relation. */
static void order_make(struct story *s)
{
	for (size_t k = 0; k < s->count; k++) {
		steps_set direct = 0;

		s->step[k].learned = learned_at(s, k);
		for (size_t i = 0; i < k; i++)
			if (is_before_directly(s, i, k))
				direct |= bit(i);
		direct |= acquired_at(s, k);
		s->step[k].before = direct;
		for (size_t i = 0; i < k; i++)
			if (has(direct, i))
				s->step[k].before |= s->step[i].before;
	}
}

/* ---- Races. ---- */

static bool is_access(const struct step *s)
{
	return s->kind == EVENT_READ || s->kind == EVENT_WRITE || is_atomic(s->kind);
}

static bool only_reads(const struct step *s)
{
	return s->kind == EVENT_READ || s->kind == EVENT_ATOMIC_LOAD;
}

/* Both touch the byte. */
static bool do_race(const struct story *s, size_t i, size_t k)
{
	const struct step *a = &s->step[i], *b = &s->step[k];

	return !(only_reads(a) && only_reads(b)) && !(is_atomic(a->kind) && is_atomic(b->kind)) && !has(b->before, i);
}

static bool races_at(const struct story *s, struct byte b, size_t since, size_t k)
{
	for (size_t i = since; i < k; i++)
		if (is_access(&s->step[i]) && touches(s->step[i].event, b) && do_race(s, i, k))
			return true;
	return false;
}

/* last[e]: of all that raced first at event e, the last access; 0 if nothing did. */
static void races_of(const struct story *s, struct byte b, uint64_t *last)
{
	size_t since = 0;
	uint64_t raced = 0;

	for (size_t k = 0; k < s->count; k++) {
		const struct step *at = &s->step[k];

		if (at->kind == EVENT_ALLOC && touches(at->event, b)) {
			since = k;
			raced = 0;
		}
		if (!is_access(at) || !touches(at->event, b))
			continue;
		if (!raced && races_at(s, b, since, k))
			raced = at->event->seq;
		if (raced && last[raced] < at->event->seq)
			last[raced] = at->event->seq;
	}
}

/* ---- The check. ---- */

static size_t step_of(const struct story *s, const struct access *a)
{
	for (size_t i = 0; i < s->count; i++)
		if (is_access(&s->step[i]) && s->step[i].event->seq == a->seq)
			return i;
	return STEPS_MOST;
}

static bool says(const char *what, const struct hazard *h)
{
	printf("  %s: event %" PRIu64 " and event %" PRIu64 "\n", what, h->at[0].seq, h->at[1].seq);
	return false;
}

/* The hazard is a race, and in the way that it says. */
static bool is_race(const struct story *s, const struct hazard *h)
{
	size_t i = step_of(s, &h->at[0]), k = step_of(s, &h->at[1]);
	struct byte b = {h->at[0].flags & EVENT_ADDRESSED, h->at[0].object};

	if (i >= k || k == STEPS_MOST || h->since > h->at[0].seq)
		return says("no two accesses", h);
	if (!touches(s->step[i].event, b) || !touches(s->step[k].event, b))
		return says("not of the variable", h);
	if (s->step[i].thread != h->at[0].thread || s->step[i].event->site != h->at[0].site)
		return says("not the place", h);
	return do_race(s, i, k) || says("no race", h);
}

static bool agrees(const struct story *s, const struct findings *f)
{
	uint64_t last[RANDOM_TRACE_MOST + 1] = {0}, until[RANDOM_TRACE_MOST + 1] = {0};

	for (size_t b = 0; b < s->bytes; b++)
		races_of(s, s->byte[b], last);
	for (size_t i = 0; i < f->hazards; i++) {
		const struct hazard *h = f->hazard[i];

		if (!is_race(s, h))
			return false;
		if (until[h->at[1].seq] < h->until)
			until[h->at[1].seq] = h->until;
	}
	for (size_t e = 1; e <= RANDOM_TRACE_MOST; e++)
		if (last[e] != until[e]) {
			printf("  at event %zu: until %" PRIu64 ", should be %" PRIu64 "\n", e, until[e], last[e]);
			return false;
		}
	return true;
}

/* ---- Traces. ---- */

/* Some accesses become atomic, some of those fences: as many as the seed says. */
static void make_atomics(struct event *events, size_t n, uint64_t seed)
{
	struct rng rng = {~seed};
	uint32_t share = rng_below(&rng, 5), fences = 1 + rng_below(&rng, 3);

	for (struct event *e = events; e < events + n; e++) {
		if ((e->kind != EVENT_READ && e->kind != EVENT_WRITE) || rng_below(&rng, 6) >= share)
			continue;
		e->order = (uint8_t)(ORDER_RELAXED + rng_below(&rng, ORDERS - ORDER_RELAXED));
		e->kind = e->kind == EVENT_READ ? EVENT_ATOMIC_LOAD : rng_below(&rng, 2) ? EVENT_ATOMIC_STORE : EVENT_ATOMIC_RMW;
		if (rng_below(&rng, 12) < fences) {
			e->kind = EVENT_ATOMIC_FENCE;
			e->object = 0;
			e->flags = 0;
			e->size = 0;
		}
	}
}

static void print(const struct event *events, size_t n)
{
	for (const struct event *e = events; e < events + n; e++)
		printf("  %2" PRIu64 " T%u %s %#" PRIx64 ",%u %s\n", e->seq, (unsigned)e->thread,
			event_info[e->kind].text, e->kind == EVENT_WAIT ? e->mutex : e->object, (unsigned)e->size,
			e->order ? event_order_text[e->order] : "");
}

struct totals {
	unsigned long races, skipped, wrong;
};

static void run_check(struct arena *a, struct tables *tables, struct findings *f, struct event *events, size_t n)
{
	const struct check *check = check_named("races", 5);
	struct run *run;

	findings_init(f, a, tables);
	run = run_new(a, tables, f, &(struct run_setup){.checks = &check, .count = 1});
	if (run_events(run, events, n) < n)
		die(STATUS_TOOL, "races_exact: malformed: %s", run_wellformed(run)->why);
	run_finish(run);
}

static void try_seed(uint64_t seed, struct totals *to)
{
	struct event events[RANDOM_TRACE_MOST], copy[RANDOM_TRACE_MOST];
	struct story s = {.count = 0};
	struct tables tables;
	struct findings f;
	struct arena a;
	size_t n;

	arena_init(&a);
	tables_init(&tables, &a);
	n = random_trace(seed, &tables, events);
	make_atomics(events, n, seed);
	memcpy(copy, events, sizeof copy);
	steps_make(&s, copy, n);
	bytes_make(&s, copy, n);
	if (has_meaning(&s)) {
		order_make(&s);
		run_check(&a, &tables, &f, events, n);
		to->races += f.hazards > 0;
		if (!agrees(&s, &f)) {
			to->wrong++;
			printf("seed %" PRIu64 ":\n", seed);
			print(copy, n);
		}
	} else {
		to->skipped++;
	}
	arena_free(&a);
}

int main(int argc, char **argv)
{
	unsigned long count = 20000, seed = 1;
	const struct opt table[] = {
		{"count", 'n', OPT_COUNT, &count, "N", "how many random traces"},
		{"seed", 's', OPT_COUNT, &seed, "S", "of the first one"},
		{0},
	};
	struct totals totals = {0};

	if (opts_parse(table, "races_exact", argc, argv) > 0)
		die(STATUS_USAGE, "races_exact: no operands");
	for (unsigned long i = 0; i < count && totals.wrong < 3; i++)
		try_seed(seed + i, &totals);
	printf("races_exact: %lu traces, %lu with a race, %lu left out\n", count, totals.races, totals.skipped);
	printf("%d passed, %d failed\n", !totals.wrong, !!totals.wrong);
	return totals.wrong > 0;
}
