/* SPDX-License-Identifier: MIT */
/*
 * How many entries a second come through merge and translate, without a program, a check or a file:
 * merge_speed [MILLIONS]
 *
 * For several numbers of rings and several lengths of critical sections. Filling the rings is not counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/arena.h"
#include "collect/merge.h"
#include "collect/translate.h"
#include "fake_rings.h"
#include "symbols/namer.h"

struct load {
	uint32_t rings;
	unsigned accesses; /* in a section */
	bool alone;        /* one thread after the other; otherwise turns go round */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void count(void *to, struct event *e)
{
	*(uint64_t *)to += e->kind != EVENT_NONE;
}

static void section(struct channel *c, struct self *s, unsigned accesses)
{
	fake_put(s, fake_first(ENTRY_ENTER, 1, 0x402000), 0x401000);
	fake_sync(c, s, ENTRY_ACQUIRE, 0x10000);
	for (unsigned i = 0; i < accesses; i++)
		fake_put(s, fake_first(i & 1 ? ENTRY_WRITE : ENTRY_READ, 8, 0x20000 + 8 * i), 0x401000 + 4 * (i % 1000));
	fake_sync(c, s, ENTRY_RELEASE, 0x10000);
	fake_put(s, fake_first(ENTRY_EXIT, 1, 0), 0x401000);
}

/* Every ring a quarter full. */
static void fill(struct channel *c, const struct load *l)
{
	unsigned rounds = RING_SLOTS / 4 / (l->accesses + 6);

	for (unsigned k = 0; l->alone && k < l->rings; k++)
		for (unsigned r = 0; r < rounds; r++)
			section(c, channel_ring(c, k), l->accesses);
	for (unsigned r = 0; !l->alone && r < rounds; r++)
		for (unsigned k = 0; k < l->rings; k++)
			section(c, channel_ring(c, (k * 7 + r) % l->rings), l->accesses);
}

static double rate(const struct load *l, uint64_t entries)
{
	struct channel *c = fake_channel(l->rings);
	static struct merge m;
	struct translate t;
	struct arena a;
	struct tables tables;
	struct namer namer;
	uint64_t events = 0;
	double busy = 0;

	arena_init(&a);
	tables_init(&tables, &a);
	namer_init(&namer, &a, &tables);
	translate_init(&t, &a, &namer, NULL, &events, count);
	merge_init(&m, &a, c, translate_listener(&t));
	for (uint32_t i = 0; i < l->rings; i++)
		fake_thread(c, i, 1, i + 1);
	while (m.entries < entries) {
		double start;

		fill(c, l);
		start = now();
		while (merge_step(&m))
			;
		busy += now() - start;
	}
	fake_channel_free(c);
	arena_free(&a);
	return (double)m.entries / busy / 1e6;
}

int main(int argc, char **argv)
{
	static const struct load loads[] = {
		{1, 1000, true}, {2, 100, true}, {2, 4, false}, {16, 4, false}, {200, 4, false}, {200, 100, false}, {200, 1000, true},
	};
	double millions = argc > 1 ? atof(argv[1]) : 20;

	printf("%5s %9s  %s\n", "rings", "accesses", "million entries a second");
	for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
		printf("%5u %9u  %.1f%s\n", loads[i].rings, loads[i].accesses, rate(&loads[i], (uint64_t)(millions * 1e6)),
			loads[i].alone ? "" : "  (turn about)");
	return 0;
}
