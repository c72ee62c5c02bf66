/* SPDX-License-Identifier: MIT */
/*
 * The judge before its own judge: small traces whose verdict can be seen by looking at them.
 *
 * `full` and `data` are the numbers of the steps at which the trace stops being serializable, 0 for
 * never. `split` has a character for each activation, in the order of their begins: D split by
 * data, F only in the full order, small where it is not an innermost one, - not split.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "check/oracle.h"
#include "event/event.h"
#include "short_trace.h"

static const struct example {
	const char *name, *trace;
	uint64_t full, data;
	const char *split;
} examples[] = {
	{"nothing", "", 0, 0, ""},
	{"bank account",
		"1 begin; 1 acq m; 1 r x; 1 rel m; 2 acq m; 2 w x; 2 rel m;"
		"1 acq m; 1 w x; 1 rel m; 1 end",
		8, 9, "D"},
	{"bank account, one lock over all of it",
		"1 begin; 1 acq m; 1 r x; 1 w x; 1 rel m; 1 end; 2 acq m; 2 w x; 2 rel m", 0, 0,
		"-"},
	{"through two blocks of one thread",
		"1 begin; 1 w A; 2 begin; 2 r A; 2 end; 2 begin; 2 w X; 2 end;"
		"3 begin; 3 r X; 3 w B; 3 end; 1 r B; 1 end",
		13, 13, "D---"},
	{"through a write outside, block still open",
		"1 begin; 1 w V; 4 begin; 2 w V; 4 r U; 1 w U; 1 end; 4 r V", 8, 8, "--"},
	{"two blocks that need each other",
		"1 begin; 1 w x; 2 begin; 2 w y; 2 r x; 1 r y; 1 end; 2 end", 6, 6, "--"},
	{"read, write, write", "1 begin; 1 r x; 2 w x; 1 w x; 1 end", 4, 4, "D"},
	{"reads do not conflict", "1 begin; 1 r x; 2 r x; 1 r x; 1 end", 0, 0, "-"},
	{"a block that nobody comes back to", "1 begin; 1 w x; 1 end; 2 w x; 1 w x", 0, 0, "-"},
	{"lock only", "1 begin; 1 acq m; 1 rel m; 2 acq m; 2 rel m; 1 acq m; 1 rel m; 1 end", 6, 0,
		"F"},
	{"shared sides do not conflict",
		"1 begin; 1 acq_shared m; 1 rel m; 2 acq_shared m; 2 rel_shared m; 1 acq_shared m",
		0, 0, "-"},
	{"a shared side and the exclusive one",
		"1 begin; 1 acq_shared m; 1 rel m; 2 acq m; 2 rel m; 1 acq_shared m", 6, 0, "F"},
	{"a release to the reader, the reader's release back",
		"1 begin; 1 acq m; 1 rel m; 2 acq_shared m; 2 rel m; 1 acq m", 6, 0, "F"},
	{"a re-entrant pair lets nobody in",
		"1 acq m; 1 begin; 1 acq m; 1 rel m; 1 end; 1 rel m; 2 begin; 2 acq m; 2 rel m; 2 "
		"end",
		0, 0, "--"},
	{"the release of a re-entrant pair is the last one",
		"1 begin; 1 acq m; 1 acq m; 1 rel m; 1 rel m; 2 acq m; 2 rel m; 1 acq m", 8, 0,
		"F"},
	{"wait", "1 begin; 1 acq m; 1 wait c m; 2 acq m; 2 rel m; 1 rel m; 1 end", 6, 0, "F"},
	{"wait that has not come back", "1 begin; 1 acq m; 1 wait c m; 2 acq m; 2 rel m", 0, 0,
		"-"},
	{"wait, back right before end", "1 acq m; 1 begin; 1 wait c m; 2 acq m; 2 rel m; 1 end", 6,
		0, "F"},
	{"wait, back right before begin",
		"1 acq m; 1 wait c m; 2 acq m; 2 rel m; 1 begin; 1 rel m; 1 end", 0, 0, "-"},
	{"wait in a block, back right before its end",
		"1 acq m; 1 begin; 1 wait c m; 2 acq m; 2 rel m; 1 end", 6, 0, "F"},
	{"a wait cuts a function", "1 acq m; 1 enter f; 1 wait c m; 2 acq m; 2 rel m; 1 exit f", 0, 0,
		"-"},
	{"a fork cuts a function", "1 enter f; 1 r x; 1 fork 3; 2 w x; 1 r x; 1 exit f", 0, 0, "-"},
	{"behind a fork it goes on",
		"1 enter f; 1 fork 3; 1 r x; 2 w x; 1 r x; 1 exit f", 0, 0, "D"},
	{"a fork does not cut a block", "1 begin; 1 r x; 1 fork 3; 2 w x; 1 r x; 1 end", 5, 5, "D"},
	{"a start routine is no block",
		"1 fork 2; 2 enter f; 2 r x; 1 w x; 2 r x; 2 exit f", 0, 0, "-"},
	{"wait lets go of the whole mutex",
		"1 begin; 1 acq m; 1 acq m; 1 wait c m; 2 acq m; 2 rel m; 1 rel m; 2 r x; 1 rel m;"
		"2 acq m; 2 rel m; 1 end",
		7, 0, "F"},
	{"barrier between blocks", "1 begin; 1 barrier b 2; 2 begin; 2 barrier b 2; 2 end; 1 end",
		6, 0, "--"},
	{"barrier against single events", "1 begin; 1 barrier b 2; 2 barrier b 2; 2 r x; 1 r x", 0,
		0, "-"},
	{"barrier, two rounds",
		"1 begin; 1 barrier b 2; 2 barrier b 2; 2 barrier b 2; 1 barrier b 2; 1 r x; 2 r x",
		6, 0, "F"},
	{"barriers are different ones",
		"1 begin; 1 barrier a 1; 2 barrier b 1; 2 r x; 1 barrier a 1; 1 r x", 0, 0, "-"},
	{"semaphore", "1 begin; 1 sem_post s; 2 sem_wait s; 2 sem_post s; 1 sem_wait s", 5, 0, "F"},
	{"semaphores are different ones",
		"1 begin; 1 sem_post s; 2 sem_wait s; 2 sem_post t; 1 sem_wait s", 0, 0, "-"},
	{"fork and join in one block", "1 begin; 1 fork 2; 2 r x; 1 join 2; 1 end", 4, 4, "D"},
	{"fork of one, join of another", "1 begin; 1 fork 2; 2 r x; 3 r x; 1 join 3; 1 end", 0, 0,
		"-"},
	{"join of a thread that did nothing", "1 begin; 1 fork 2; 3 join 2; 3 r x; 1 w x", 5, 5,
		"D"},
	{"fork and join of a thread that did nothing", "1 begin; 1 fork 2; 1 join 2; 1 end", 0, 0,
		"-"},
	{"bytes that overlap",
		"1 begin; 1 w 0x1000 8; 2 r 0x1004 4; 2 w 0x1008; 1 r 0x1006 4; 1 end", 5, 5, "D"},
	{"bytes that are neighbours",
		"1 begin; 1 w 0x1000 4; 2 r 0x1004 4; 2 w 0x1008; 1 r 0x1006 2; 1 end", 0, 0, "-"},
	{"the last bytes there are",
		"1 begin; 1 w 0xfffffffffffffff8 8; 2 w 0xffffffffffffffff; 1 r 0xfffffffffffffffc "
		"4",
		4, 4, "D"},
	{"a name is no address", "1 begin; 1 w A; 2 w 0x41; 1 w A; 1 end", 0, 0, "-"},
	{"a new life of all bytes",
		"1 begin; 1 w 0x1000 8; 2 alloc 0x1000 8; 2 w 0x1000 8; 1 r 0x1000 8; 1 end", 0, 0,
		"-"},
	{"a new life of half of the bytes",
		"1 begin; 1 w 0x1000 8; 2 alloc 0x1000 4; 2 w 0x1000 8; 1 r 0x1000 8; 1 end", 5, 5,
		"D"},
	{"a new life of one half and the other",
		"1 begin; 1 w 0x1000 8; 2 alloc 0x1004 8; 3 alloc 0xffc 8; 2 w 0x1000 8; 1 r "
		"0x1000 8",
		0, 0, "-"},
	{"a new life of other bytes",
		"1 begin; 1 w 0x1000 8; 2 alloc 0x1008 8; 2 w 0x1000 8; 1 r 0x1000 8; 1 end", 5, 5,
		"D"},
	{"atomics write", "1 begin; 1 atomic_load x; 2 atomic_rmw x; 1 atomic_store x; 1 end", 4, 4,
		"D"},
	{"atomic loads only read", "1 begin; 1 atomic_load x; 2 r x; 1 atomic_load x; 1 end", 0, 0,
		"-"},
	{"the inner function", "1 enter f; 1 enter g; 1 r x; 2 w x; 1 r x; 1 exit g; 1 exit f", 0,
		0, "dD"},
	{"only the outer function",
		"1 enter f; 1 enter g; 1 r x; 1 exit g; 2 w x; 1 enter h; 1 r x; 1 exit h", 0, 0,
		"D--"},
	{"the inner one by locks, the outer one by data",
		"1 enter f; 1 r x; 1 enter g; 1 acq m; 1 rel m; 2 acq m; 2 w x; 2 rel m; 1 acq m;"
		"1 exit g; 1 r x; 1 exit f",
		0, 0, "DF"},
	{"a nested block counts as its outermost",
		"1 begin; 1 r x; 1 begin; 1 r y; 1 end; 2 w x; 1 begin; 1 r x; 1 end; 1 end", 8, 8,
		"D--"},
	{"a function and a block that cross",
		"1 enter f; 1 begin; 1 r x; 2 w x; 1 r x; 1 exit f; 1 end", 5, 5, "DD"},
	{"a block that began after the window's start",
		"1 enter f; 1 r x; 1 begin; 2 w x; 1 exit f; 1 r x; 1 end", 0, 0, "--"},
	{"order through three threads",
		"1 begin; 1 w x; 2 r x; 2 acq m; 2 rel m; 3 acq m; 3 w y; 1 r y; 1 end", 8, 0, "F"},
};

static void describe_splits(const struct oracle_verdict *v, char *to)
{
	for (size_t i = 0; i < v->activations; i++) {
		const struct oracle_activation *a = &v->activation[i];

		if (a->split[ORACLE_DATA])
			*to++ = a->innermost[ORACLE_DATA] ? 'D' : 'd';
		else if (a->split[ORACLE_FULL])
			*to++ = a->innermost[ORACLE_FULL] ? 'F' : 'f';
		else
			*to++ = '-';
	}
	*to = '\0';
}

static bool example_holds(const struct example *x, struct arena *a)
{
	struct event events[64];
	char split[64];
	struct oracle_verdict v;
	size_t n = short_trace(x->trace, events);

	oracle_judge(events, n, a, &v);
	describe_splits(&v, split);
	if (!v.refused && v.first_bad[ORACLE_FULL] == x->full &&
		v.first_bad[ORACLE_DATA] == x->data && strcmp(split, x->split) == 0)
		return true;
	printf("oracle_self: %s: got %llu %llu \"%s\", expected %llu %llu \"%s\"\n", x->name,
		(unsigned long long)v.first_bad[ORACLE_FULL],
		(unsigned long long)v.first_bad[ORACLE_DATA], split, (unsigned long long)x->full,
		(unsigned long long)x->data, x->split);
	return false;
}

/* A trace of n single reads by one thread has n nodes. */
static bool takes_on(size_t n, struct arena *a)
{
	struct event *events = arena_alloc(a, n * sizeof *events);
	struct oracle_verdict v;

	for (size_t i = 0; i < n; i++)
		events[i] =
			(struct event){.kind = EVENT_READ, .thread = 1, .object = 1, .seq = i + 1};
	oracle_judge(events, n, a, &v);
	return !v.refused;
}

/* The same within one block. */
static bool takes_on_in_block(size_t n, struct arena *a)
{
	struct event *events = arena_alloc(a, n * sizeof *events);
	struct oracle_verdict v;

	for (size_t i = 0; i < n; i++)
		events[i] = (struct event){.kind = i ? EVENT_READ : EVENT_BEGIN,
			.thread = 1,
			.object = 1,
			.seq = i + 1};
	oracle_judge(events, n, a, &v);
	return !v.refused;
}

static bool limits_hold(struct arena *a)
{
	return takes_on(ORACLE_NODES_MOST, a) && !takes_on(ORACLE_NODES_MOST + 1, a) &&
	       takes_on_in_block(ORACLE_EVENTS_MOST, a) &&
	       !takes_on_in_block(ORACLE_EVENTS_MOST + 1, a);
}

int main(void)
{
	const size_t count = sizeof examples / sizeof *examples;
	size_t wrong = 0;
	struct arena a;

	arena_init(&a);
	for (size_t i = 0; i < count; i++)
		wrong += !example_holds(&examples[i], &a);
	if (!limits_hold(&a)) {
		printf("oracle_self: the limits are not where they should be\n");
		wrong++;
	}
	arena_free(&a);
	if (wrong)
		return 1;
	printf("oracle_self: %zu traces as expected\n", count);
	return 0;
}
