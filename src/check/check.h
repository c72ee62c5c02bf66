/* SPDX-License-Identifier: MIT */
/*
 * The seam between a run and the analyses.
 *
 * A check is a table of handlers. What it sees has been made plain by run.c and what stands before it:
 *
 * - the trace is well-formed, and acquires that change nothing (re-entrant ones) make no edges;
 * - e->line is a small number for the thread, from 1; a line is reused only for a thread that starts after
 *   everything of the line's former thread in every equivalent run, so a check may take a line for one thread;
 * - e->object of an access is a dense variable number from 0; accesses that overlap share a variable, accesses that
 *   do not never do. Of any other operation it is the id of its lock, semaphore, barrier or thread;
 * - order comes as edges, so that what conflicts with what is decided in one place (state/conflicts.h) for all;
 * - an event's edges come before anything else that it does. e->seq never decreases, and identifies the event in
 *   the trace: edges with the same line and e->seq lead into one event, such as an access to several variables.
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
struct mark;
struct run;

typedef void handler(void *check, const struct event *e);

struct check {
	const char *name;
	const char *summary; /* one line, for --help */

	void *(*start)(struct run *run);
	void (*finish)(void *check); /* after the last event */

	/* Every event as it stands in the trace, before anything was made plain: for the judge. */
	handler *raw;

	/*
	 * e comes after `from`, an operation of another line. `data` says that it does so by conflicting accesses or
	 * by fork and join; otherwise by a lock, semaphore or barrier. The start of a thread, as e, and its end, as
	 * `from`, have the kind EVENT_NONE.
	 */
	void (*edge)(void *check, const struct mark *from, const struct event *e, bool data);

	handler *begin, *end; /* of a declared block: after it was pushed to run_open(), before it is popped */
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

/* Whether the memory of any variable was given out anew: then one variable may be two objects. */
bool run_has_new_lives(const struct run *run);

/* The fork of the thread that had the line at event `seq`; NULL if it was not forked. */
const struct birth *run_birth(struct run *run, uint32_t line, uint64_t seq);

/* All checks, NULL at the end. */
extern const struct check *const checks_all[];

const struct check *check_named(const char *name, size_t length);

#endif
