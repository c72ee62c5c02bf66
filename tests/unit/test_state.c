/* SPDX-License-Identifier: MIT */
/*
 * What checks remember: last accesses, memory as variables, what variables share, lines of threads, open activations,
 * diaries, times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/rng.h"
#include "event/event.h"
#include "state/activations.h"
#include "state/cells.h"
#include "state/diary.h"
#include "state/held.h"
#include "state/history.h"
#include "state/last.h"
#include "state/lines.h"
#include "state/multilockset.h"
#include "state/shares.h"

/* ---- Last accesses. ---- */

static struct mark mark(uint32_t line, uint64_t seq)
{
	return mark_of(&(struct event){.kind = EVENT_READ, .thread = line, .line = line, .seq = seq, .value = seq});
}

/* The seq of the line's read, or 0. No line may be there twice. */
static uint64_t read_of(const struct last *l, uint32_t line)
{
	size_t n;
	const struct mark *m = last_readers(l, &n);
	uint64_t found = 0;

	for (size_t i = 0; i < n; i++) {
		if (!m[i].at || mark_line(&m[i]) != line)
			continue;
		assert_int_equal(found, 0);
		assert_int_equal(m[i].value, mark_seq(&m[i]));
		found = mark_seq(&m[i]);
	}
	return found;
}

static size_t readers(const struct last *l)
{
	size_t n, found = 0;
	const struct mark *m = last_readers(l, &n);

	for (size_t i = 0; i < n; i++)
		found += m[i].at != 0;
	return found;
}

static void test_mark(void **state)
{
	struct event e = {.kind = EVENT_WRITE,
		.flags = EVENT_VALUED,
		.thread = 7,
		.value = 99,
		.site = 3,
		.stack = 4,
		.line = (uint32_t)MARK_LINE_MOST,
		.seq = MARK_SEQ_MOST};
	struct mark m = mark_of(&e);

	(void)state;
	assert_true(m.at != LAST_MANY && m.at != 0);
	assert_int_equal(mark_line(&m), MARK_LINE_MOST);
	assert_int_equal(mark_seq(&m), MARK_SEQ_MOST);
	assert_int_equal(m.thread, e.thread);
	assert_int_equal(m.value, e.value);
	assert_int_equal(m.site, e.site);
	assert_int_equal(m.stack, e.stack);
	assert_int_equal(m.kind, e.kind);
	assert_int_equal(m.flags, e.flags);
}

static void test_last_one_reader(void **state)
{
	struct last l = {0};
	struct arena a;

	(void)state;
	arena_init(&a);
	assert_int_equal(readers(&l), 0);
	last_read(&l, &a, mark(5, 1));
	last_read(&l, &a, mark(5, 2));
	assert_int_equal(readers(&l), 1);
	assert_int_equal(read_of(&l, 5), 2);
	last_write(&l, &a, mark(6, 3));
	assert_int_equal(readers(&l), 0);
	assert_int_equal(mark_line(&l.write), 6);
	assert_int_equal(a.bytes, 0);
	arena_free(&a);
}

/* Random reads, writes, copies and resets of a few things, against plain arrays. */
static void test_last_against_model(void **state)
{
	enum { THINGS = 4, LINES = 200, ROUNDS = 200000 };
	static struct {
		struct last last;
		uint64_t write, read[LINES + 1];
	} thing[THINGS], empty;
	struct rng r = {4};
	struct arena a;

	(void)state;
	arena_init(&a);
	for (uint64_t seq = 1; seq <= ROUNDS; seq++) {
		uint32_t i = rng_below(&r, THINGS), what = rng_below(&r, 1000);
		uint32_t line = 1 + rng_below(&r, 1 + rng_below(&r, LINES));

		if (what == 0) {
			uint32_t to = (i + 1) % THINGS;

			last_reset(&thing[to].last, &a);
			last_copy(&thing[to].last, &thing[i].last, &a);
			thing[to].write = thing[i].write;
			memcpy(thing[to].read, thing[i].read, sizeof thing[i].read);
		} else if (what == 1) {
			last_reset(&thing[i].last, &a);
			assert_int_equal(memcmp(&thing[i].last, &empty.last, sizeof empty.last), 0);
			thing[i] = empty;
		} else if (what < 10) {
			last_write(&thing[i].last, &a, mark(line, seq));
			thing[i].write = seq;
			memset(thing[i].read, 0, sizeof thing[i].read);
		} else {
			last_read(&thing[i].last, &a, mark(line, seq));
			thing[i].read[line] = seq;
		}
		if (seq % 64)
			continue;
		assert_int_equal(mark_seq(&thing[i].last.write), thing[i].write);
		for (line = 1; line <= LINES; line++)
			assert_int_equal(read_of(&thing[i].last, line), thing[i].read[line]);
	}
	assert_true(a.bytes < (size_t)1 << 20);
	arena_free(&a);
}

/* ---- Memory as variables. ---- */

/*
 * The model has one list of accesses a byte, as a hash of them. cells must give the same bytes the same variable
 * only if they have the same history, and each variable the history of its bytes.
 */
enum { MEMORY = 64 * 6, VARIABLES_MOST = 1 << 20 };

struct world {
	struct arena arena;
	struct cells cells;
	uint64_t byte[MEMORY];             /* the history of each byte */
	uint64_t variable[VARIABLES_MOST]; /* of each variable, as the calls told it */
	uint64_t touched[MEMORY];          /* variables of the access at hand */
	size_t touches;
	uint64_t now; /* number of the access at hand */
};

static struct world *world; /* zero to begin with */

static uint64_t after(uint64_t history, uint64_t access)
{
	return (history ^ access) * 0x9E3779B97F4A7C15u + 1;
}

static void on_split(void *self, uint64_t x, uint64_t y)
{
	struct world *w = self;

	for (size_t i = 0; i < w->touches; i++)
		assert_int_not_equal(w->touched[i], x); /* the new part would miss this access */
	assert_true(x < y && y < VARIABLES_MOST);
	assert_int_equal(w->variable[y], 0);
	w->variable[y] = w->variable[x];
}

static void on_forget(void *self, uint64_t x)
{
	((struct world *)self)->variable[x] = 0;
}

static void on_touch(void *self, uint64_t x)
{
	struct world *w = self;

	for (size_t i = 0; i < w->touches; i++)
		assert_int_not_equal(w->touched[i], x);
	w->touched[w->touches++] = x;
	w->variable[x] = after(w->variable[x], w->now);
}

static struct event access_to(uint64_t address, uint32_t size)
{
	return (struct event){.kind = EVENT_WRITE,
		.flags = EVENT_ADDRESSED | (size ? EVENT_SIZED : 0),
		.object = address,
		.size = size};
}

/* The variables that the access touched are exactly its bytes, each byte in one, each with the byte's history. */
static void assert_covered(struct world *w, uint64_t base, uint64_t first, uint64_t last)
{
	static uint8_t covered[MEMORY];

	memset(covered, 0, sizeof covered);
	for (size_t i = 0; i < w->touches; i++) {
		struct event e = {0};

		cells_name(&w->cells, w->touched[i], &e);
		assert_true(e.flags & EVENT_ADDRESSED && e.flags & EVENT_SIZED);
		assert_true(e.object >= base + first && e.object <= base + last);
		covered[e.object - base]++;
	}
	for (uint64_t b = 0; b < MEMORY; b++)
		assert_true(covered[b] <= 1);
}

static void world_access(struct world *w, uint64_t base, uint64_t first, uint32_t size)
{
	struct event e = access_to(base + first, size);
	uint64_t bytes = size ? size : 1, count = 0;

	w->now++;
	w->touches = 0;
	for (uint64_t b = first; b < first + bytes; b++)
		w->byte[b] = after(w->byte[b], w->now);
	cells_access(&w->cells, &e);
	assert_true(w->touches > 0);
	assert_covered(w, base, first, first + bytes - 1);
	for (size_t i = 0; i < w->touches; i++) {
		struct event name = {0};

		cells_name(&w->cells, w->touched[i], &name);
		count += name.size;
		assert_int_equal(w->variable[w->touched[i]], w->byte[name.object - base]);
	}
	assert_int_equal(count, bytes);
}

static void world_alloc(struct world *w, uint64_t base, uint64_t first, uint64_t bytes)
{
	struct event e = {.kind = EVENT_ALLOC, .flags = EVENT_ADDRESSED, .object = base + first, .count = bytes};

	w->touches = 0;
	for (uint64_t b = first; b < first + bytes && b < MEMORY; b++)
		w->byte[b] = 0;
	cells_alloc(&w->cells, &e);
	assert_int_equal(w->touches, 0);
}

/* Every byte by itself: its variable has its history, and no other's. */
static void world_sweep(struct world *w, uint64_t base)
{
	for (uint64_t b = 0; b < MEMORY; b++)
		world_access(w, base, b, 0);
}

static void world_init(struct world *w)
{
	memset(w->byte, 0, sizeof w->byte);
	memset(w->variable, 0, w->cells.variables * sizeof *w->variable);
	w->now = 0;
	arena_init(&w->arena);
	cells_init(&w->cells, &w->arena, (struct cells_listener){w, on_split, on_forget, on_touch});
}

static void test_cells_against_model(void **state)
{
	static const uint64_t bases[] = {0, 0x7fff00001000, UINT64_MAX - MEMORY + 1};
	struct rng r = {5};

	(void)state;
	world = calloc(1, sizeof *world);
	for (int round = 0; round < 300; round++) {
		uint64_t base = bases[round % 3];
		int accesses = round % 5 ? 5 : 400; /* an alloc is of more lines than were touched, or of fewer */

		world_init(world);
		for (int i = 0; i < accesses; i++) {
			uint32_t first = rng_below(&r, MEMORY);
			uint32_t size = 1 + rng_below(&r, 1u << rng_below(&r, 9));

			if (size > MEMORY - first)
				size = MEMORY - first;
			if (rng_below(&r, 6) == 0)
				world_alloc(world, base, first, rng_below(&r, 8) ? size : 1 << 20);
			else
				world_access(world, base, first, size);
		}
		world_sweep(world, base);
		arena_free(&world->arena);
	}
	free(world);
}

static uint64_t variable_of(struct world *w, struct event e)
{
	w->touches = 0;
	w->now++;
	cells_access(&w->cells, &e);
	assert_int_equal(w->touches, 1);
	return w->touched[0];
}

static void test_cells_by_hand(void **state)
{
	struct event e = {0};
	uint64_t low, high, name;

	(void)state;
	world = calloc(1, sizeof *world);
	world_init(world);
	low = variable_of(world, access_to(0x1000, 8));
	assert_int_equal(variable_of(world, access_to(0x1000, 8)), low);
	high = variable_of(world, access_to(0x1004, 4));
	assert_int_not_equal(low, high);
	assert_int_equal(variable_of(world, access_to(0x1000, 4)), low);
	cells_name(&world->cells, low, &e);
	assert_int_equal(e.object, 0x1000);
	assert_int_equal(e.size, 4);
	name = variable_of(world, (struct event){.kind = EVENT_READ, .object = 0x1000});
	assert_true(name != low && name != high);
	assert_int_equal(cells_named(&world->cells, 0x1000), name);
	cells_name(&world->cells, name, &e);
	assert_int_equal(e.object, 0x1000);
	assert_int_equal(e.flags, 0);
	arena_free(&world->arena);
	free(world);
}

/* ---- Lines. ---- */

static struct event forks(thread_id t, thread_id u, uint64_t seq)
{
	return (struct event){.kind = EVENT_FORK, .thread = t, .object = u, .seq = seq};
}

static struct event joins(thread_id t, thread_id u, uint64_t seq)
{
	return (struct event){.kind = EVENT_JOIN, .thread = t, .object = u, .seq = seq};
}

static uint32_t fork_line(struct lines *l, thread_id t, thread_id u, uint64_t seq)
{
	struct event e = forks(t, u, seq);

	e.line = lines_of(l, t);
	return lines_fork(l, &e);
}

static void join_line(struct lines *l, thread_id t, thread_id u, uint64_t seq)
{
	struct event e = joins(t, u, seq);

	e.line = lines_of(l, t);
	lines_join(l, &e);
}

static void test_lines_are_reused(void **state)
{
	struct arena a;
	struct lines l;
	uint32_t line;

	(void)state;
	arena_init(&a);
	lines_init(&l, &a);
	assert_int_equal(lines_of(&l, 1), 1);
	line = fork_line(&l, 1, 2, 10);
	assert_int_equal(line, 2);
	assert_int_equal(lines_of(&l, 2), 2);
	join_line(&l, 1, 2, 20);
	for (thread_id u = 3; u < 1000; u++) {
		assert_int_equal(fork_line(&l, 1, u, 10 * u), line);
		assert_int_equal(lines_of(&l, u), line);
		join_line(&l, 1, u, 10 * u + 5);
	}
	assert_int_equal(l.count, 2);
	arena_free(&a);
}

static void test_lines_go_to_who_joined(void **state)
{
	struct arena a;
	struct lines l;

	(void)state;
	arena_init(&a);
	lines_init(&l, &a);
	assert_int_equal(fork_line(&l, 1, 2, 1), 2);
	assert_int_equal(fork_line(&l, 2, 3, 2), 3);
	assert_int_equal(fork_line(&l, 2, 4, 3), 4);
	join_line(&l, 2, 3, 4);
	join_line(&l, 2, 4, 5);
	assert_int_equal(fork_line(&l, 1, 5, 6), 5); /* thread 2 has them, not thread 1 */
	join_line(&l, 1, 2, 7);
	assert_int_equal(fork_line(&l, 5, 6, 8), 6);
	assert_int_equal(fork_line(&l, 1, 7, 9), 2);
	assert_true(fork_line(&l, 1, 8, 10) <= 4);
	assert_true(fork_line(&l, 1, 9, 11) <= 4);
	assert_int_equal(fork_line(&l, 1, 10, 12), 7);
	arena_free(&a);
}

static void test_lines_births(void **state)
{
	struct arena a;
	struct lines l;
	const struct birth *b;

	(void)state;
	arena_init(&a);
	lines_init(&l, &a);
	fork_line(&l, 1, 2, 10);
	join_line(&l, 1, 2, 20);
	fork_line(&l, 1, 3, 30);
	assert_null(lines_birth(&l, 1, 100));
	assert_null(lines_birth(&l, 2, 9));
	for (uint64_t seq = 10; seq < 50; seq++) {
		b = lines_birth(&l, 2, seq);
		assert_int_equal(b->thread, seq < 30 ? 2 : 3);
		assert_int_equal(mark_seq(&b->fork), seq < 30 ? 10 : 30);
		assert_int_equal(b->joins.count, seq < 30 ? 0 : 1);
	}
	assert_int_equal(mark_seq(&b->joins.at[0]), 20);
	assert_int_equal(b->joins.at[0].value, 2);
	arena_free(&a);
}

/* ---- Activations. ---- */

static void push(struct activations *s, struct arena *a, uint64_t begin, bool declared)
{
	activations_push(s, a, (struct activation){.begin = begin, .code = (code_id)begin, .block = true,
		.sort = declared ? ACTIVATION_BLOCK : ACTIVATION_FUNCTION, .declared = declared, .exact = declared});
}

static struct activation *youngest(const struct activations *s, bool declared)
{
	return activations_youngest(s, declared ? ACTIVATION_BLOCK : ACTIVATION_FUNCTION);
}

static void pop(struct activations *s, bool declared)
{
	activations_pop(s, youngest(s, declared));
}

static void test_activations_cross(void **state)
{
	struct activations s = {0};
	struct arena a;

	(void)state;
	arena_init(&a);
	push(&s, &a, 10, false);
	push(&s, &a, 20, true);
	push(&s, &a, 30, false);
	push(&s, &a, 40, true);
	assert_int_equal(s.exact, 2);
	pop(&s, false); /* 30, from the middle */
	assert_int_equal(s.depth, 3);
	assert_int_equal(youngest(&s, false)->begin, 10);
	assert_int_equal(youngest(&s, true)->begin, 40);
	assert_int_equal(activations_holding(&s, 35)->begin, 20);
	assert_int_equal(activations_holding(&s, 40)->begin, 40);
	pop(&s, false); /* 10, from the bottom */
	assert_null(youngest(&s, false));
	assert_null(activations_holding(&s, 19));
	assert_int_equal(activations_holding(&s, 20)->begin, 20);
	pop(&s, true);
	pop(&s, true);
	assert_int_equal(s.depth, 0);
	assert_int_equal(s.exact, 0);
	assert_null(activations_holding(&s, 1000));
	arena_free(&a);
}

/* Functions that are no blocks, blocks, exact ones; blocks of the trace that are left out, or not. */
static void push_some(struct activations *s, struct arena *a, uint64_t begin, unsigned what)
{
	activations_push(s, a, (struct activation){.begin = begin, .block = what == 1 || what == 2 || what == 4,
		.exact = what == 2 || what == 4, .declared = what >= 3,
		.sort = what >= 3 ? ACTIVATION_BLOCK : ACTIVATION_FUNCTION});
}

/* Random pushes and pops; the innermost ones are looked for from the top, one by one. */
static void test_activations_against_model(void **state)
{
	struct activations s = {0};
	struct rng r = {6};
	struct arena a;

	(void)state;
	arena_init(&a);
	for (uint64_t now = 1; now < 20000; now++) {
		bool declared = rng_below(&r, 2);
		uint64_t seq = now > 50 ? now - rng_below(&r, 50) : now;
		const struct activation *any = NULL, *block = NULL, *oldest = NULL;
		size_t blocks = 0;

		if (youngest(&s, declared) && rng_below(&r, 20) >= 10 - s.depth / 4)
			pop(&s, declared);
		else
			push_some(&s, &a, now, declared ? 3 + (unsigned)rng_below(&r, 2) : (unsigned)rng_below(&r, 3));
		if (rng_below(&r, 30) == 0)
			s.cut = now;
		for (size_t i = 0; i < s.depth; i++) {
			assert_true(i == 0 || s.at[i - 1].begin < s.at[i].begin);
			if (s.at[i].begin <= seq && s.at[i].block && (seq > s.cut || s.at[i].declared))
				any = &s.at[i];
			if (s.at[i].begin <= seq && s.at[i].exact && (seq > s.cut || s.at[i].declared))
				block = &s.at[i];
			blocks += s.at[i].exact;
			if (s.at[i].block && !oldest)
				oldest = &s.at[i];
		}
		assert_ptr_equal(activations_holding(&s, seq), any);
		assert_ptr_equal(activations_exact_holding(&s, seq), block);
		assert_ptr_equal(activations_outermost(&s), oldest);
		assert_int_equal(s.exact, blocks);
	}
	arena_free(&a);
}

/* ---- Multilocksets: Figure 3 with all sets kept is the model. ---- */

struct guarded {
	struct arena arena;
	struct locksets locksets;
	struct periods periods;
	struct multilockset m;
};

static void guarded_init(struct guarded *g)
{
	arena_init(&g->arena);
	locksets_init(&g->locksets, &g->arena);
	periods_init(&g->periods, &g->arena);
	multilockset_init(&g->m, &g->arena, &g->locksets, &g->periods);
	g->m.with = MULTILOCKSET_ESCAPE | MULTILOCKSET_PERIODS | MULTILOCKSET_SETS;
}

static void guarded_access(struct guarded *g, uint8_t kind, uint64_t x, lockset_id held)
{
	multilockset_access(&g->m, &(struct event){.kind = kind, .line = kind == EVENT_READ ? 1 : 2, .object = x},
		&(struct held){.all = held, .exclusive = held});
}

static lockset_id set_of_bits(struct locksets *s, unsigned bits)
{
	lockset_id set = 0;

	for (sync_id i = 0; bits >> i; i++)
		if (bits >> i & 1)
			set = lockset_add(s, set, i + 1);
	return set;
}

/* One variable, some reads and a write; of 8 locks there are up to 70 sets of which none is within another. */
static void test_read_sets_against_model(void **state)
{
	struct rng r = {11};

	(void)state;
	for (int round = 0; round < 2000; round++) {
		unsigned written = 1 + (unsigned)rng_below(&r, 255), reads = (unsigned)rng_below(&r, 60);
		bool racy = false;
		struct guarded g;

		guarded_init(&g);
		for (unsigned i = 0; i < reads; i++) {
			unsigned bits = (unsigned)(rng_below(&r, 256) | rng_below(&r, 256));

			guarded_access(&g, EVENT_READ, 3, set_of_bits(&g.locksets, bits));
			racy |= !(bits & written);
		}
		guarded_access(&g, EVENT_WRITE, 3, set_of_bits(&g.locksets, written));
		multilockset_finish(&g.m);
		assert_int_equal(multilockset_class(&g.m, multilockset_life(&g.m, 3)) & LIFE_RACY, racy);
		arena_free(&g.arena);
	}
}

/* A write under all locks, reads under one each, twice: exact up to the limit, and a race beyond it. */
static void many_read_sets(sync_id locks, bool racy)
{
	struct guarded g;
	lockset_id all = 0;

	guarded_init(&g);
	for (sync_id i = 1; i <= 2 * locks; i++) {
		sync_id lock = 1 + i % locks;

		all = lockset_add(&g.locksets, all, lock);
		guarded_access(&g, EVENT_READ, 7, lockset_add(&g.locksets, 0, lock));
	}
	guarded_access(&g, EVENT_WRITE, 7, all);
	multilockset_finish(&g.m);
	assert_int_equal(multilockset_class(&g.m, multilockset_life(&g.m, 7)) & LIFE_RACY, racy);
	assert_int_equal(g.m.merged, racy);
	arena_free(&g.arena);
}

static void test_read_sets_are_limited(void **state)
{
	(void)state;
	many_read_sets(READ_SETS_FEW, false);
	many_read_sets(READ_SETS_MOST, false);
	many_read_sets(READ_SETS_MOST + 1, true);
	many_read_sets(8 * READ_SETS_MOST, true);
}

/* ---- Diaries, and what comes late. ---- */

/* What a diary should have: the youngest notes, in their order, and those that are still to be put there. */
struct model_diary {
	struct note at[2 * DIARY_MOST];
	size_t count;
	bool whole; /* nothing was forgotten */
	struct note late[DIARY_LATE];
	size_t lates;
};

static void model_cut(struct model_diary *m)
{
	size_t over = m->count > DIARY_MOST ? m->count - DIARY_MOST : 0;

	memmove(m->at, m->at + over, (m->count - over) * sizeof *m->at);
	m->count -= over;
	m->whole = m->whole && !over;
}

/* One by one, each behind all that are not younger. */
static void model_settle(struct model_diary *m)
{
	uint64_t oldest = m->whole || !m->count ? 0 : m->at[0].seq;

	for (size_t i = 0; i < m->lates; i++) {
		size_t k = m->count;

		if (m->late[i].seq < oldest)
			continue;
		for (; k && m->at[k - 1].seq > m->late[i].seq; k--)
			m->at[k] = m->at[k - 1];
		m->at[k] = m->late[i];
		m->count++;
	}
	m->lates = 0;
	model_cut(m);
}

static void assert_diary(struct diaries *s, const struct model_diary *m)
{
	const struct diary *d = diary_read(s, 1);

	assert_int_equal(d->count - diary_first(d), m->count);
	for (size_t i = 0; i < m->count; i++)
		assert_int_equal(diary_note(d, diary_first(d) + i)->object, m->at[i].object);
}

static void test_diary_against_model(void **state)
{
	struct model_diary *m = calloc(1, sizeof *m);
	struct arena a;
	struct diaries s = {0};
	struct rng r = {8};
	uint64_t seq = 1;

	(void)state;
	arena_init(&a);
	diaries_init(&s, &a, NULL, NULL);
	m->whole = true;
	for (uint64_t i = 1; i < 60000; i++) {
		bool late = rng_below(&r, 3) == 0;
		uint64_t ago = rng_below(&r, 1u << rng_below(&r, 13));
		struct event e = {.kind = EVENT_READ, .line = 1, .object = i};

		seq += rng_below(&r, 3);
		e.seq = late && ago < seq ? seq - ago : seq;
		if (late && m->lates == DIARY_LATE)
			model_settle(m);
		if (late && (m->whole || e.seq >= m->at[0].seq))
			m->late[m->lates++] = note_of(&e);
		else if (!late)
			m->at[m->count++] = note_of(&e);
		model_cut(m);
		if (late)
			diary_insert(&s, &e);
		else
			diary_write(&s, &e);
		if (rng_below(&r, 500) == 0) {
			model_settle(m);
			assert_diary(&s, m);
		}
	}
	arena_free(&a);
	free(m);
}

static void test_history_against_model(void **state)
{
	enum { STEPS = 1000 };
	struct histories h;
	struct arena a;
	struct rng r = {9};
	uint64_t since[STEPS], seq = 0;

	(void)state;
	arena_init(&a);
	histories_init(&h, &a);
	assert_int_equal(history_at(history_of(&h, 1), 5), 1);
	for (size_t i = 0; i < STEPS; i++) {
		since[i] = seq += 1 + rng_below(&r, 4);
		history_note(&h, history_of(&h, 1), seq, (clock_time)i + 2);
		for (size_t k = 0; k < 20; k++) {
			uint64_t at = rng_below(&r, (uint32_t)seq + 3);
			size_t n = i + 1;

			while (n && since[n - 1] >= at)
				n--;
			assert_int_equal(history_at(history_of(&h, 1), at), n + 1);
		}
	}
	arena_free(&a);
}

/* ---- What variables share. ---- */

enum { SHARERS = 200, DEEDS = 40 };

/* `beside` is what a record has beside itself: of each that lives, there is one. */
struct shared_sum {
	uint64_t sum, *beside;
};

static size_t sums;

static void sum_add(struct shares *of, struct shared_sum *s, uint64_t n)
{
	if (!s->beside)
		sums++;
	s->beside = s->beside ? s->beside : arena_alloc(of->arena, sizeof *s->beside);
	s->sum = s->sum * 3 + n;
	*s->beside = s->sum;
}

static void sum_copy(void *self, void *to, const void *from)
{
	struct shared_sum *t = to;

	assert_int_equal(t->sum, 0);
	assert_null(t->beside);
	*t = *(const struct shared_sum *)from;
	if (!t->beside)
		return;
	t->beside = arena_alloc(self, sizeof *t->beside);
	*t->beside = t->sum;
	sums++;
}

static void sum_drop(void *self, void *record)
{
	struct shared_sum *s = record;

	sums -= s->beside != NULL;
	arena_recycle(self, s->beside, sizeof *s->beside);
	*s = (struct shared_sum){0};
}

static void sum_become(struct shares *s, uint64_t x, uint32_t n)
{
	struct share_deed deed = {{n, 0, (uint64_t)(n % 7) << 32}};
	struct shared_sum *sum = shares_is_own(s, x) ? shares_own(s, x, sizeof *sum) : shares_become(s, x, &deed);

	if (sum)
		sum_add(s, sum, n);
}

static uint64_t sum_of(struct shares *s, uint64_t x)
{
	const struct shared_sum *sum = shares_is_own(s, x) ? shares_own(s, x, sizeof *sum) : shares_look(s, x);

	assert_int_equal(sum->beside ? *sum->beside : 0, sum->sum);
	return sum->sum;
}

/* Each variable as if nobody shared anything. */
static void test_shares_against_model(void **state)
{
	uint64_t model[SHARERS] = {0}, variables = SHARERS / 2;
	struct rng r = {8};
	struct arena a;
	struct shares s;

	(void)state;
	arena_init(&a);
	shares_init(&s, &a, sizeof(struct shared_sum), (struct shares_owner){&a, sum_copy, sum_drop});
	for (size_t i = 0; i < 20000; i++) {
		uint32_t x = rng_below(&r, (uint32_t)variables), what = rng_below(&r, 100), n = 1 + rng_below(&r, DEEDS);

		if (what < 60) {
			for (uint64_t k = x, end = x + rng_below(&r, 30); k <= end && k < variables; k++) {
				sum_become(&s, k, n);
				model[k] = model[k] * 3 + n;
			}
		} else if (what < 70) {
			sum_add(&s, shares_own(&s, x, sizeof(struct shared_sum)), n);
			model[x] = model[x] * 3 + n;
		} else if (what < 72 && variables < SHARERS) {
			shares_split(&s, x, variables);
			model[variables++] = model[x];
		} else if (what < 73) {
			for (uint64_t k = 0; k < variables; k++)
				shares_forget(&s, k);
			memset(model, 0, sizeof model);
		} else if (what < 75 && !shares_is_own(&s, x)) {
			sum_become(&s, x, DEEDS + 1);
			model[x] = model[x] * 3 + DEEDS + 1;
			shares_claim(&s, x);
			assert_true(shares_is_own(&s, x));
		}
		for (uint64_t k = 0; k < variables; k++)
			assert_int_equal(sum_of(&s, k), model[k]);
	}
	for (uint64_t k = 0; k < variables; k++)
		shares_forget(&s, k);
	assert_true(sums <= 4 * SHARES_STEPS); /* ends of steps */
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mark),
		cmocka_unit_test(test_last_one_reader),
		cmocka_unit_test(test_last_against_model),
		cmocka_unit_test(test_cells_against_model),
		cmocka_unit_test(test_cells_by_hand),
		cmocka_unit_test(test_lines_are_reused),
		cmocka_unit_test(test_lines_go_to_who_joined),
		cmocka_unit_test(test_lines_births),
		cmocka_unit_test(test_activations_cross),
		cmocka_unit_test(test_activations_against_model),
		cmocka_unit_test(test_diary_against_model),
		cmocka_unit_test(test_history_against_model),
		cmocka_unit_test(test_shares_against_model),
		cmocka_unit_test(test_read_sets_against_model),
		cmocka_unit_test(test_read_sets_are_limited),
	};

	return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
