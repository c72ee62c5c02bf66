/* SPDX-License-Identifier: MIT */
/*
 * A program without data races that does something else for each seed: random_program SEED THREADS STEPS [packed].
 *
 * Variables of several sizes, rows of which any part is copied, and if that is asked for numbers packed without gaps, are in
 * groups, each under its own mutex, reader-writer lock, spin lock or semaphore; functions call each other and take the groups' locks in between, so that
 * some of them are split by others. Besides: memory that only one thread uses, memory that is only read, objects that
 * one thread fills and another one empties, conditions that are waited for, counters that are atomic, data that is
 * published by an atomic flag, and several generations of threads. Some functions never synchronise, and are known for
 * it: see runtime/frames.h.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GROUPS = 6, VARIABLES = 6, CONSTANTS = 64, OWN = 64, BOXES = 3, WORDS = 8, DEPTH = 5, CALMED = 1100,
	ROW = 48, LETTER = 24, PACKED = 61 };

enum sort { MUTEX, RWLOCK, SPIN, SEMAPHORE };

static const enum sort sorts[GROUPS] = {MUTEX, MUTEX, MUTEX, RWLOCK, SPIN, SEMAPHORE};

struct letter {
	long word[LETTER];
};

typedef long unaligned __attribute__((aligned(1)));

struct group {
	pthread_mutex_t lock;
	pthread_rwlock_t rwlock;
	pthread_spinlock_t spin;
	sem_t semaphore;
	pthread_cond_t changed;
	int small[VARIABLES];
	long large[VARIABLES];
	struct { _Alignas(4) char one; } byte[VARIABLES];
	struct { _Alignas(4) short two; } pair[VARIABLES];
	struct { int a, b; long c; } whole[2];
	int row[ROW];
	struct letter letter;
	char packed[PACKED];
};

struct object {
	long word[WORDS];
};

struct box {
	pthread_mutex_t lock;
	struct object *content;
};

struct state {
	uint64_t random;
	int steps;
	long sum;
	long *own;
	struct object *hand;
	int reporter;
};

static struct group group[GROUPS];
static struct box box[BOXES];
static long constant[CONSTANTS];
static int has_packed; /* set before there are threads */
static _Atomic long counter;
static _Atomic int published; /* so many of `news` are there to be read */
static long news[64];

/* Not instrumented: the choice itself is no part of what is tested. */
__attribute__((no_sanitize_thread, noinline)) static unsigned choose(struct state *s, unsigned n)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return (unsigned)(s->random >> 33) % n;
}

#define INLINE static inline __attribute__((always_inline))

/* Any part of a row, by functions of libc: some granules of it may have been touched by themselves. */
INLINE void touch_row(struct state *s, struct group *g)
{
	unsigned from = choose(s, ROW), n = 1 + choose(s, ROW - from), to = choose(s, ROW - n + 1);
	int copy[ROW];

	switch (choose(s, 5)) {
	case 0: g->row[from]++; break;
	case 1: memset(&g->row[from], (int)s->sum, n * sizeof(int)); break;
	case 2: memmove(&g->row[to], &g->row[from], n * sizeof(int)); break;
	case 3: memcpy(g->row, constant, sizeof g->row); break;
	default: memcpy(copy, &g->row[from], n * sizeof(int)); s->sum += copy[0]; break;
	}
}

/* Mostly as a whole. */
INLINE void touch_letter(struct state *s, struct group *g)
{
	unsigned i = choose(s, LETTER), how = choose(s, 24);
	struct letter copy = {{s->sum}};

	if (how == 0)
		g->letter.word[i]++;
	else if (how == 1)
		memset(&g->letter.word[i], (int)s->sum, (LETTER - i) * sizeof(long));
	else if (how < 12)
		g->letter = copy;
	else {
		copy = g->letter;
		s->sum += copy.word[i];
	}
}

INLINE void look_at_letter(struct state *s, const struct group *g)
{
	unsigned i = choose(s, LETTER);
	struct letter copy = {{0}};

	if (choose(s, 3))
		copy = g->letter;
	else
		copy.word[i] = g->letter.word[i];
	s->sum += copy.word[i];
}

INLINE void look_at_packed(struct state *s, const struct group *g)
{
	unsigned step = 1 + choose(s, 8);

	for (unsigned i = choose(s, 3); i + sizeof(long) <= PACKED; i += step)
		s->sum += *(const unaligned *)&g->packed[i];
}

/* From one end to the other, each over the last bytes of the one before. */
INLINE void touch_packed(struct state *s, struct group *g)
{
	unsigned step = 1 + choose(s, 8);

	if (choose(s, 2)) {
		look_at_packed(s, g);
		return;
	}
	for (unsigned i = choose(s, 3); i + sizeof(long) <= PACKED; i += step)
		*(unaligned *)&g->packed[i] = s->sum;
}

INLINE void look_at_row(struct state *s, const struct group *g)
{
	unsigned from = choose(s, ROW), n = 1 + choose(s, ROW - from);
	int copy[ROW];

	memcpy(copy, &g->row[from], n * sizeof(int));
	s->sum += copy[0];
}

INLINE void touch(struct state *s, struct group *g)
{
	unsigned i = choose(s, VARIABLES);

	switch (choose(s, has_packed ? 22 : 20)) {
	case 20: case 21: touch_packed(s, g); break;
	case 16: case 17: case 18: case 19: touch_letter(s, g); break;
	case 13: case 14: case 15: touch_row(s, g); break;
	case 9: s->sum += g->byte[i].one; break;
	case 10: g->byte[i].one++; break;
	case 11: g->pair[i].two = (short)s->sum; break;
	case 12: s->sum += g->pair[i].two; break;
	case 0: s->sum += g->small[i]; break;
	case 1: g->small[i] = (int)s->sum; break;
	case 2: g->small[i]++; break;
	case 3: s->sum += g->large[i]; break;
	case 4: g->large[i] = s->sum; break;
	case 5: g->large[i] += 3; break;
	case 6: g->whole[i & 1].a = g->whole[i & 1].b; break;
	case 7: g->whole[0] = g->whole[1]; break;
	default: s->sum += (int)g->whole[i & 1].c; break;
	}
}

INLINE void look(struct state *s, const struct group *g)
{
	unsigned i = choose(s, VARIABLES);

	s->sum += choose(s, 2) ? g->small[i] : g->byte[i].one;
	s->sum += choose(s, 2) ? g->large[i] : g->pair[i].two;
	if (choose(s, 2))
		look_at_row(s, g);
	if (choose(s, 2))
		look_at_letter(s, g);
	if (has_packed && choose(s, 2))
		look_at_packed(s, g);
}

__attribute__((noinline)) static void touch_calmly(struct state *s, struct group *g)
{
	touch(s, g);
	s->sum++;
}

__attribute__((noinline)) static void touch_deeply(struct state *s, struct group *g, unsigned depth)
{
	touch(s, g);
	if (depth)
		touch_deeply(s, g, depth - 1);
	else
		touch_calmly(s, g);
	s->sum++;
}

/* So often that nobody expects otherwise; on memory that is the caller's own. */
static void calm_down(uint64_t seed)
{
	struct state s = {.random = seed * 0x9e3779b97f4a7c15u | 1};
	struct group *g = calloc(1, sizeof *g);

	for (int i = 0; i < CALMED; i++)
		touch_deeply(&s, g, 0);
	free(g);
}

INLINE void touch_somehow(struct state *s, struct group *g)
{
	switch (choose(s, 5)) {
	case 0: touch_calmly(s, g); break;
	case 1: touch_deeply(s, g, choose(s, 3)); break;
	case 2: free(malloc(1 + choose(s, 64))); break;
	default: touch(s, g); break;
	}
}

INLINE void take(struct group *g, enum sort sort)
{
	switch (sort) {
	case MUTEX: pthread_mutex_lock(&g->lock); break;
	case RWLOCK: pthread_rwlock_wrlock(&g->rwlock); break;
	case SPIN: pthread_spin_lock(&g->spin); break;
	case SEMAPHORE: sem_wait(&g->semaphore); break;
	}
}

INLINE void give(struct group *g, enum sort sort)
{
	switch (sort) {
	case MUTEX: pthread_mutex_unlock(&g->lock); break;
	case RWLOCK: pthread_rwlock_unlock(&g->rwlock); break;
	case SPIN: pthread_spin_unlock(&g->spin); break;
	case SEMAPHORE: sem_post(&g->semaphore); break;
	}
}

/* Now and then a section is so long that the thread knows most of what it comes upon: see runtime/filter.h. */
INLINE void in_section(struct state *s)
{
	unsigned which = choose(s, GROUPS), n = choose(s, 8) ? choose(s, 3) : 40;
	struct group *g = &group[which];

	if (sorts[which] == RWLOCK && choose(s, 2)) {
		pthread_rwlock_rdlock(&g->rwlock);
		look(s, g);
		pthread_rwlock_unlock(&g->rwlock);
		return;
	}
	take(g, sorts[which]);
	for (unsigned i = 0; i <= n; i++)
		touch_somehow(s, g);
	give(g, sorts[which]);
}

/*
 * Inside of the section of its caller, which it leaves and comes back to. What it does before its first lock is its own, be
 * there a ticket in between or not.
 */
__attribute__((noinline)) static void leave_and_return(struct state *s, struct group *g, struct group *other)
{
	touch(s, g);
	if (choose(s, 2))
		free(malloc(1 + choose(s, 64)));
	pthread_mutex_lock(&other->lock);
	pthread_mutex_unlock(&g->lock);
	touch_somehow(s, other);
	pthread_mutex_unlock(&other->lock);
	sched_yield();
	pthread_mutex_lock(&g->lock);
	touch(s, g);
}

/* In this order, so that nobody waits for ever. */
INLINE void in_two_sections(struct state *s)
{
	unsigned i = choose(s, 2);

	pthread_mutex_lock(&group[i].lock);
	touch_somehow(s, &group[i]);
	leave_and_return(s, &group[i], &group[i + 1]);
	pthread_mutex_unlock(&group[i].lock);
}

/* Waits for a change, but not for long: there may be none. */
INLINE void wait_in(struct state *s, struct group *g)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 200000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&g->lock);
	touch_somehow(s, g);
	if (choose(s, 4) == 0)
		pthread_cond_timedwait(&g->changed, &g->lock, &until);
	else
		pthread_cond_signal(&g->changed);
	touch(s, g);
	pthread_mutex_unlock(&g->lock);
}

/* One thread at a time adds to the news; what is published is never written again. */
INLINE void by_atomics(struct state *s)
{
	int n = atomic_load_explicit(&published, memory_order_acquire);

	s->sum += atomic_fetch_add(&counter, 1);
	if (n)
		s->sum += news[choose(s, (unsigned)n)];
	if (!s->reporter || n == 64)
		return;
	news[n] = s->sum;
	atomic_store_explicit(&published, n + 1, memory_order_release);
}

INLINE void on_own(struct state *s)
{
	unsigned i = choose(s, OWN);

	s->own[i] += s->own[(i + 1) % OWN];
	s->sum += constant[choose(s, CONSTANTS)];
}

/* What is in the hand is the thread's alone. */
INLINE void exchange(struct state *s)
{
	struct box *b = &box[choose(s, BOXES)];
	struct object *o;

	for (unsigned i = 0; i < WORDS; i++)
		s->hand->word[i] += (long)i;
	pthread_mutex_lock(&b->lock);
	o = b->content;
	b->content = s->hand;
	pthread_mutex_unlock(&b->lock);
	s->hand = o;
}

typedef void block(struct state *s, unsigned depth);
static block *const blocks[];

INLINE void body(struct state *s, unsigned depth)
{
	unsigned n = choose(s, 4);

	for (unsigned i = 0; i <= n && s->steps > 0; i++) {
		s->steps--;
		switch (choose(s, 12)) {
		case 0: case 1: case 2: case 3: in_section(s); break;
		case 8: wait_in(s, &group[choose(s, 3)]); break;
		case 9: by_atomics(s); break;
		case 10: on_own(s); break;
		case 4: exchange(s); break;
		case 5: sched_yield(); break;
		case 11: in_two_sections(s); break;
		default:
			if (depth < DEPTH)
				blocks[choose(s, 12)](s, depth + 1);
		}
	}
}

#define BLOCK(i) \
	__attribute__((noinline)) static void block_##i(struct state *s, unsigned depth) \
	{ \
		body(s, depth); \
	}

BLOCK(0) BLOCK(1) BLOCK(2) BLOCK(3) BLOCK(4) BLOCK(5) BLOCK(6) BLOCK(7) BLOCK(8) BLOCK(9) BLOCK(10) BLOCK(11)

static block *const blocks[] = {block_0, block_1, block_2, block_3, block_4, block_5, block_6, block_7, block_8,
	block_9, block_10, block_11};

static void *work(void *argument)
{
	struct state *s = argument;

	while (s->steps > 0)
		blocks[choose(s, 12)](s, 0);
	return NULL;
}

static struct object *object_new(void)
{
	return calloc(1, sizeof(struct object));
}

static void generation(uint64_t seed, int threads, int steps)
{
	pthread_t t[64];
	struct state *s = calloc((size_t)threads, sizeof *s);

	for (int i = 0; i < threads; i++) {
		s[i] = (struct state){.random = (seed * 64 + (uint64_t)i + 1) * 0x9e3779b97f4a7c15u | 1, .steps = steps,
			.own = calloc(OWN, sizeof(long)), .hand = object_new(), .reporter = i == 0};
		pthread_create(&t[i], NULL, work, &s[i]);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < threads; i++)
		constant[i % CONSTANTS] += s[i].sum;
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	int threads = argc > 2 ? atoi(argv[2]) : 3, steps = argc > 3 ? atoi(argv[3]) : 300;

	if (threads < 1 || threads > 64)
		return 2;
	has_packed = argc > 4;
	for (int i = 0; i < GROUPS; i++) {
		pthread_mutex_init(&group[i].lock, NULL);
		pthread_rwlock_init(&group[i].rwlock, NULL);
		pthread_spin_init(&group[i].spin, 0);
		sem_init(&group[i].semaphore, 0, 1);
		pthread_cond_init(&group[i].changed, NULL);
	}
	for (int i = 0; i < BOXES; i++) {
		pthread_mutex_init(&box[i].lock, NULL);
		box[i].content = object_new();
	}
	if (seed % 4)
		calm_down(seed);
	for (int i = 0; i < 3; i++)
		generation(seed * 3 + (uint64_t)i, threads, steps);
	return 0;
}
