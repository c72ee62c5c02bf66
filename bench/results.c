/* SPDX-License-Identifier: MIT */
/*
 * What merging costs, by the piece: bench_results make COUNT BYTES FILE writes a pack of so many results of that size,
 * in no order; bench_results merge FILE reads it, sorts, drops repetitions and writes it again, and says how many
 * seconds of a processor each took.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/rng.h"
#include "base/str.h"
#include "scale/pack.h"
#include "scale/record.h"
#include "scale/results.h"

/* Of a processor: the machine may have other things to do. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void make(unsigned long count, unsigned long bytes, const char *path)
{
	struct fault fault = {0};
	struct rng r = {1};
	struct arena a;
	struct str pack, one;
	char *filler;

	arena_init(&a);
	str_init(&pack, &a);
	str_init(&one, &a);
	filler = arena_alloc(&a, bytes + 1);
	memset(filler, 'x', bytes);
	pack_begin(&pack);
	for (unsigned long i = 0; i < count; i++) {
		struct address id;

		str_clear(&one);
		record_put_word(&one, "fission-result", "1");
		record_put_number(&one, "number", rng_next(&r));
		record_put(&one, "last", (struct text){filler, bytes});
		id = address_of((struct text){one.at, one.length});
		pack_add(&pack, "result", (struct text){id.hex, ADDRESS}, (struct text){one.at, one.length});
	}
	if (!pack_publish(path, (struct text){pack.at, pack.length}, &fault))
		die(fault.status, "%s", fault.text);
	arena_free(&a);
}

static void merge(const char *path)
{
	struct fault fault = {0};
	struct results r;
	struct arena a;
	struct str pack;
	double start = now(), read, sorted, written;

	arena_init(&a);
	results_init(&r, &a);
	if (!results_take(&r, path, &fault))
		die(fault.status, "%s", fault.text);
	read = now();
	results_settle(&r);
	sorted = now();
	str_init(&pack, &a);
	results_pack(&r, &pack);
	written = now();
	printf("results %zu bytes %zu read %.3f sort %.3f pack %.3f\n", r.count, pack.length, read - start, sorted - read,
		written - sorted);
	arena_free(&a);
}

int main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "make") == 0)
		make(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10), argv[4]);
	else if (argc == 3 && strcmp(argv[1], "merge") == 0)
		merge(argv[2]);
	else
		die(STATUS_USAGE, "bench_results make COUNT BYTES FILE | bench_results merge FILE");
	return STATUS_CLEAN;
}
