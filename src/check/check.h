/* SPDX-License-Identifier: MIT */
/*
 * The seam between a run and the analyses.
 *
 * A check is a table of handlers, one per kind of event, named after what the event means and not how a program
 * spelt it. What a check sees has been made plain by run.c and what stands before it:
 *
 * - the trace is well-formed; re-entrant acquires and their releases are gone; a release is told to the handler of
 *   the side that was held;
 * - e->line is a small number for the thread, from 1; a line is reused only for a thread that starts after
 *   everything of the line's former thread in every equivalent run, so a check may take a line for one thread;
 * - e->object of an access is a dense variable number from 0; accesses that overlap share a variable, accesses that
 *   do not never do. One access to several variables arrives as several calls with the same e->seq;
 * - atomic loads are reads, atomic stores and read-modify-writes are writes;
 * - a condition wait arrives as a release, and as an acquire right before the thread's next event; a barrier as a
 *   departure right before the thread's next event. Such an acquire or departure has that next event's e->seq;
 * - e->seq never decreases, and identifies the event in the trace.
 *
 * Handlers that are NULL are not called. A check allocates from run->arena only.
 */
#ifndef FISSION_CHECK_CHECK_H
#define FISSION_CHECK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/seg.h"
#include "event/event.h"
#include "finding/finding.h"
#include "state/activations.h"

struct birth;
struct run;

typedef void handler(void *check, const struct event *e);

struct check {
	const char *name;
	const char *summary; /* one line, for --help */

	void *(*start)(struct run *run);
	void (*finish)(void *check); /* after the last event */

	/* Every event as it stands in the trace, before anything was made plain: for the judge. */
	handler *raw;

	handler *read, *write;
	handler *acquire, *release;               /* exclusive side */
	handler *acquire_shared, *release_shared; /* e->object: the lock */
	handler *fork, *join;                     /* e->object: the other thread's line; e->value: that thread */
	handler *post, *take;                     /* semaphores */
	/*
	 * e comes after `earlier`, an event of another line: a departure from a barrier, once for each arrival in
	 * that round; or, by fork and join and so by data, the join of a thread that has no event, after its fork.
	 */
	void (*depart)(void *check, const struct event *e, const struct event *earlier);
	handler *enter, *exit, *begin, *end;      /* after the activation was pushed, before it is popped */

	void (*split)(void *check, uint64_t x, uint64_t y); /* variable y is a part of x: copy x's state to it */
	void (*forget)(void *check, uint64_t x);            /* x's memory was given out anew */
	handler *prefetch;                                  /* an access that will come soon */
};

/* What a check may use of the run that it is part of. */
struct run {
	struct arena *arena;
	struct tables *tables;
	struct findings *findings;
	struct seg open; /* struct activations by line: see run_open */
	uint32_t lines;  /* lines are 1 to this */
};

/* The open activations of a line. The address stays good. */
static inline struct activations *run_open(struct run *run, uint32_t line)
{
	return seg_at(&run->open, line, sizeof(struct activations));
}

/* The variable as the trace calls it: fills in object, flags and size of an access to it. */
void run_variable(struct run *run, uint64_t x, struct access *access);

/* The fork of the thread that had the line at event `seq`; NULL if it was not forked. */
const struct birth *run_birth(struct run *run, uint32_t line, uint64_t seq);

/* All checks, NULL at the end. */
extern const struct check *const checks_all[];

const struct check *check_named(const char *name, size_t length);

#endif
