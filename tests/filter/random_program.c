/* SPDX-License-Identifier: MIT */
/*
 * A program without data races that does something else for each seed: random_program SEED THREADS STEPS.
 *
 * Variables of several sizes are in groups, each under its own mutex; functions call each other and take the groups'
 * locks in between, so that some of them are split by others. Besides: memory that only one thread uses, memory that is
 * only read, objects that one thread fills and another one empties, and several generations of threads.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 4, VARIABLES = 6, CONSTANTS = 64, OWN = 64, BOXES = 3, WORDS = 8, DEPTH = 5 };

struct group {
	pthread_mutex_t lock;
	int small[VARIABLES];
	long large[VARIABLES];
	char bytes[16];
	struct { int a, b; long c; } whole[2];
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
};

static struct group group[GROUPS];
static struct box box[BOXES];
static long constant[CONSTANTS];

/* Not instrumented: the choice itself is no part of what is tested. */
__attribute__((no_sanitize_thread, noinline)) static unsigned choose(struct state *s, unsigned n)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return (unsigned)(s->random >> 33) % n;
}

#define INLINE static inline __attribute__((always_inline))

INLINE void touch(struct state *s, struct group *g)
{
	unsigned i = choose(s, VARIABLES);

	switch (choose(s, 9)) {
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

INLINE void in_section(struct state *s)
{
	struct group *g = &group[choose(s, GROUPS)];
	unsigned n = choose(s, 3);

	pthread_mutex_lock(&g->lock);
	for (unsigned i = 0; i <= n; i++)
		touch(s, g);
	pthread_mutex_unlock(&g->lock);
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
		switch (choose(s, 8)) {
		case 0: case 1: case 2: in_section(s); break;
		case 3: on_own(s); break;
		case 4: exchange(s); break;
		case 5: sched_yield(); break;
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
			.own = calloc(OWN, sizeof(long)), .hand = object_new()};
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
	for (int i = 0; i < GROUPS; i++)
		pthread_mutex_init(&group[i].lock, NULL);
	for (int i = 0; i < BOXES; i++) {
		pthread_mutex_init(&box[i].lock, NULL);
		box[i].content = object_new();
	}
	for (int i = 0; i < 3; i++)
		generation(seed * 3 + (uint64_t)i, threads, steps);
	return 0;
}
