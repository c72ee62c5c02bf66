/* SPDX-License-Identifier: MIT */
/*
 * The seam between a run and the analyses.
 *
 * A check is a table of handlers. What it sees has been made plain by run.c and what stands before it:
 *
 * - the trace is well-formed;
 * - e->line is a small number for the thread, from 1; a line is reused only for a thread that starts after
 *   everything of the line's former thread in every equivalent run, so a check may take a line for one thread;
 * - e->object of an access is a dense variable number from 0; accesses that overlap share a variable, accesses that
 *   do not never do. Of any other operation it is the id of its lock, semaphore, barrier or thread;
 * - what conflicts with what is decided in one place (state/conflicts.h) and comes as edges; e->seq never decreases
 *   within a line, in a trace not at all, and identifies the event: edges with the same line and e->seq lead into one
 *   event. In a live run it is a time (runtime/channel.h): if one event is before another, its seq is smaller;
 * - which code is expected to be atomic is decided in one place (check/scope.h) and comes as open activations;
 * - e->stack is the call stack; e->assumed what the policy takes for granted.
 *
 * In what order: an event's edges, then its handler, and only then does the shared state (locks held, clocks,
 * periods) change: a handler sees it as it was before the event.
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
#include "state/clocks.h"
#include "state/diary.h"
#include "state/held.h"
#include "state/periods.h"

struct birth;
struct mark;
struct run;

typedef void handler(void *check, const struct event *e);

/* What a check can be told of. */
enum told {
	ON_RAW,     /* every event as it stands in the trace, before anything was made plain: for the judge */
	ON_BEGIN,   /* a block of those that are taken together (declared, or chosen by a policy): after it was opened */
	ON_END,     /* the same, before it is closed. The outermost is the transaction: run_open()->exact is 1 */
	ON_OPEN,    /* any block that is expected to be atomic: after it was pushed to run_open() */
	ON_CLOSE,   /* the same, before it is removed: run->closing */
	ON_CUT,     /* fork, join, barrier, wait: no block of a function or lock holds anything across it */
	ON_ACCESS,  /* read, write, atomic load, store, read-modify-write of a variable; once a variable */
	ON_ATOMIC,  /* the atomic ones among them, after that */
	ON_ACQUIRE, /* of one side of a lock, by e->kind; also the end of a wait, with EVENT_WAITED */
	ON_RELEASE, /* of one side; also the start of a wait, whose place it has */
	ON_AGAIN,   /* a re-entrant acquire or release, which changes nothing */
	ON_FORK,
	ON_JOIN,
	ON_WAIT, /* on a condition; then comes ON_RELEASE of its mutex */
	ON_NOTIFY,
	ON_ARRIVE, /* at a barrier */
	ON_DEPART, /* from it, right before the thread's next event */
	ON_POST,   /* of a semaphore */
	ON_TAKE,
	ON_FENCE,
	ON_ALLOC, /* e->object is an address with EVENT_ADDRESSED, otherwise a name's id; e->count the bytes */
	ON_FREE,
	TOLD
};

/* Shared state that a check uses; what no check needs is not kept. */
enum need {
	NEED_HELD = 1,    /* run->held */
	NEED_C11 = 2,     /* run->clocks[CLOCKS_C11] */
	NEED_CAUSES = 4,  /* run->clocks[CLOCKS_CAUSES] */
	NEED_PERIODS = 8, /* run->periods */
	NEED_ESCAPE = 16, /* EVENT_PRIVATE of accesses */
};

/* A part of a check that can be switched on and off by name: --<check>=a,b,c. */
struct refinement {
	const char *name;
	unsigned bits;       /* what naming it switches on */
	const char *summary; /* one line, for --help */
};

struct check {
	const char *name;
	const char *summary; /* one line, for --help */
	unsigned needs;      /* enum need */

	/*
	 * It looks at accesses only if another check of the run makes the run look at them: alone, it is told of none.
	 * run->accesses says which it is.
	 */
	bool modest;

	/* It must be told of every single access: the ownership filter of live runs is not for it. */
	bool single;

	/* Edges before the first block of ON_BEGIN mean nothing to it. */
	bool declared;

	const struct refinement *refinements; /* NULL name at the end; NULL if there are none */
	unsigned standard;                    /* bits that are on unless the user says otherwise */

	void *(*start)(struct run *run);
	void (*finish)(void *check); /* after the last event */

	/*
	 * e comes after `from`, an operation of another line. `data` says that it does so by conflicting accesses or
	 * by fork and join; otherwise by a lock, semaphore or barrier. The start of a thread, as e, and its end, as
	 * `from`, have the kind EVENT_NONE.
	 */
	void (*edge)(void *check, const struct mark *from, const struct event *e, bool data);

	handler *on[TOLD];

	/* An access that is told late: see EVENT_PAST. A check that keeps nothing of accesses but edges has no need of it. */
	handler *past;

	/* The variable is about to be accessed: brings in what the check has of it, then what that leads to. Both or none. */
	void (*fetch)(void *check, uint64_t x);
	void (*fetch_rest)(void *check, uint64_t x);

	/* Variable y is a part of x and has the same past; variable x begins a new life. */
	void (*split)(void *check, uint64_t x, uint64_t y);
	void (*forget)(void *check, uint64_t x);
};

/* What a check may use of the run that it is part of. */
struct run {
	struct arena *arena;
	struct tables *tables;
	struct findings *findings;
	struct seg open; /* struct activations by line: see run_open */
	const struct activation *closing; /* of which ON_CLOSE and ON_END tell */
	uint32_t lines;  /* lines are 1 to this */
	bool accesses;   /* the run looks at accesses: they are in the diaries */
	bool several;    /* the access that is told touches many variables, or is one of many alike */
	struct helds held;
	struct clocks clocks[CLOCKS_ORDERS];
	struct vclock *const *now; /* of the line of the event that is told, but for one of the past: those that are needed */
	struct periods periods;
	struct diaries diaries;
};

/* The open activations of a line. The address stays good. */
static inline struct activations *run_open(struct run *run, uint32_t line)
{
	return seg_at(&run->open, line, sizeof(struct activations));
}

/* The locks that a line holds. */
static inline const struct held *run_held(struct run *run, uint32_t line)
{
	return held_by(&run->held, line);
}

/* The bits of the check's refinements that are on. */
unsigned run_refinements(const struct run *run, const struct check *check);

/* The line of a thread: of e->object at a fork or join. */
uint32_t run_line(struct run *run, thread_id t);

/* The activation as a finding has it. */
static inline struct block block_of(const struct activation *a, thread_id t)
{
	return (struct block){
		.code = a->code, .site = a->site, .thread = t, .seq = a->begin, .declared = a->declared,
		.entered = a->sort == ACTIVATION_FUNCTION, .stack = a->stack, .caller = a->caller,
	};
}

/* The variable as people call it: fills in object, flags and size of an access to it. */
void run_variable(struct run *run, uint64_t x, struct access *access);

/* The same as the trace has it: an address stays one. */
void run_address(struct run *run, uint64_t x, struct access *access);

/* Whether the memory of any variable was given out anew: then one variable may be two objects. */
bool run_has_new_lives(const struct run *run);

/* The line's own time in CLOCKS_C11 when it was at `seq`, or an earlier one if that is forgotten. */
clock_time run_time_at(struct run *run, uint32_t line, uint64_t seq);

/* The fork of the thread that had the line at event `seq`; NULL if it was not forked. */
const struct birth *run_birth(struct run *run, uint32_t line, uint64_t seq);

/* All checks, NULL at the end. */
extern const struct check *const checks_all[];

const struct check *check_named(const char *name, size_t length);

#endif
