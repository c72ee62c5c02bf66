/* SPDX-License-Identifier: MIT */
/*
 * Whether a trace of order.c has its critical sections in the order in which they ran: order_check TRACE READS WRITES
 *
 * Section n of a lock reads cell n - 1 and writes cell n, the next 2 bytes; nothing else there has 2 bytes. So under each
 * lock every such read must be of the cell that was written last, every such write to the one behind it, and there
 * must be as many of both as the program has counted. The trace must be well-formed as it stands.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/seg.h"
#include "event/trace.h"
#include "event/wellformed.h"

struct order {
	struct seg next; /* by lock: where its next cell is; 0: not known yet */
	struct seg held; /* by thread: the lock */
	uint64_t reads, writes, wrong;
};

enum { CELL = 2 };

static uint64_t *word(struct seg *s, uint64_t i)
{
	return seg_at(s, i, sizeof(uint64_t));
}

/* The first cell is nobody's, and only read. */
static void look(struct order *o, const struct event *e)
{
	uint64_t m = *word(&o->held, e->thread), *next = word(&o->next, m);

	if (e->size != CELL)
		return;
	if (e->kind == EVENT_READ) {
		o->wrong += !m || (*next && e->object != *next - CELL);
		*next = *next ? *next : e->object + CELL;
		o->reads++;
	} else {
		o->wrong += !m || e->object != *next;
		*next = e->object + CELL;
		o->writes++;
	}
}

static void step(struct order *o, const struct event *e)
{
	switch (e->kind) {
	case EVENT_ACQUIRE: case EVENT_ACQUIRE_SHARED: *word(&o->held, e->thread) = e->object; break;
	case EVENT_RELEASE: case EVENT_RELEASE_SHARED: *word(&o->held, e->thread) = 0; break;
	case EVENT_READ: case EVENT_WRITE: look(o, e); break;
	default: break;
	}
}

int main(int argc, char **argv)
{
	struct arena a;
	struct tables tables;
	struct trace t;
	struct wellformed w;
	struct order o = {0};
	struct event batch[TRACE_BATCH];
	uint64_t broken = 0, events = 0;

	if (argc != 4)
		die(STATUS_USAGE, "usage: order_check TRACE READS WRITES");
	arena_init(&a);
	tables_init(&tables, &a);
	wellformed_init(&w, &a, &tables, false);
	seg_init(&o.next, &a, sizeof(uint64_t));
	seg_init(&o.held, &a, sizeof(uint64_t));
	if (!trace_open(&t, argv[1], &tables, false))
		die(t.fault.status, "%s", t.fault.text);
	for (size_t n; (n = trace_next(&t, batch, TRACE_BATCH)) > 0; events += n)
		for (size_t i = 0; i < n; i++) {
			broken += wellformed_step(&w, &batch[i]).broken != WF_FINE;
			step(&o, &batch[i]);
		}
	printf("%llu events, %llu reads, %llu writes, %llu out of order, %llu that make no sense\n",
		(unsigned long long)events, (unsigned long long)o.reads, (unsigned long long)o.writes,
		(unsigned long long)o.wrong, (unsigned long long)broken);
	trace_close(&t);
	return t.incomplete || fault_is_set(&t.fault) || o.wrong || broken ||
		o.reads != strtoull(argv[2], NULL, 10) || o.writes != strtoull(argv[3], NULL, 10);
}
