/* SPDX-License-Identifier: MIT */
/*
 * One trace through a set of checks: judges it, makes it plain, and hands it on. The only switch over event kinds
 * that checks depend on is in run.c.
 */
#ifndef FISSION_CHECK_RUN_H
#define FISSION_CHECK_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/wellformed.h"

struct arena;
struct check;
struct event;
struct findings;
struct policy;
struct run;
struct tables;

enum { CHECKS_MOST = 16 };

/* What a run is to do. */
struct run_setup {
	const struct check *const *checks;
	size_t count; /* at most CHECKS_MOST */
	bool lenient;
	const struct policy *policy; /* NULL: the default one */
	const unsigned *refinements; /* by check, in the order of `checks`; NULL: each check's standard */
	bool late;                   /* some accesses may be EVENT_PAST */
};

/* A run over a trace with these tables. Everything lives in the arena. */
struct run *run_new(struct arena *a, struct tables *tables, struct findings *findings,
	const struct run_setup *setup);

/*
 * Takes the next n events of the trace, which it may change. Returns how many were taken:
 * fewer than n when event number [that] broke a rule, which run_wellformed() and run_field() explain.
 *
 * EVENT_KNOWN is an access from which no check learns anything that it will not be told as EVENT_PAST: the diary has it.
 * EVENT_PAST is an access that its thread made earlier, and that nobody else's access came after: e->seq is when it
 * was, e->value the code of its function, or 0. Everything that later events ask about the past knows it from now on;
 * no check is told of it as an event. Other accesses of a live run have in e->value the code of their function if
 * nobody has told that it was entered. So have locks, their releases and notifications, with the site of its call above
 * the code: a function that locks once is not entered at all, one that goes on is entered late, with the seq of its
 * true entry. No check but those that look at locks only may be told so.
 */
size_t run_events(struct run *run, struct event *events, size_t n);

/* Whether the run looks at accesses; whether it must have every single one. */
bool run_looks_at_accesses(const struct run *run);
bool run_needs_single(const struct run *run);

/* Whether functions that lock may be entered late, or not at all: see run_events(). */
bool run_may_enter_late(const struct run *run);

/* After the last event: lets the checks finish. */
void run_finish(struct run *run);

const struct wellformed *run_wellformed(const struct run *run);
enum trace_field run_field(const struct run *run);

/* How many variables the trace has touched. */
uint64_t run_variables(const struct run *run);

/* The state of the named check of the run, or NULL: for questions to that check. */
void *run_check_state(const struct run *run, const char *name);

#endif
