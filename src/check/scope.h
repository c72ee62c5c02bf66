/* SPDX-License-Identifier: MIT */
/*
 * Which blocks are open, by the policy, and what it says about each event: run.c asks here and nowhere else.
 *
 * Every function that is entered, every block that is begun and, where the policy wants them, every span of a lock is
 * an activation; whether it is expected to be atomic is written into it once, when it opens. Never: `main`, the start
 * routine of a thread (what a forked thread enters with its first event), what is assumed atomic or a mover, and
 * whatever opens inside of those.
 *
 * State: the policy's answers by id, a record a line. Cost: constant an event; for accesses nothing at all while
 * the policy says nothing about places, variables and functions.
 */
#ifndef FISSION_CHECK_SCOPE_H
#define FISSION_CHECK_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/seg.h"
#include "state/activations.h"
#include "state/extents.h"

struct arena;
struct policy;
struct run;
struct tables;

/*
 * Who is told: of each block after it was opened and before it is closed, unless NULL; of the exact ones also as
 * transactions.
 */
struct scope_listener {
	void *self;
	void (*opened)(void *self, const struct event *e);
	void (*closed)(void *self, const struct event *e);
	void (*began)(void *self, const struct event *e);
	void (*ended)(void *self, const struct event *e);
};

struct scope {
	struct run *run;
	const struct policy *policy;
	struct scope_listener to;
	struct seg code, site, variable; /* uint16_t by id: the policy's answer, and that it was asked */
	struct seg line;                 /* struct scope_line */
	struct extents extents;          /* allocations, if arrays are cut off */
	struct policy *declared;         /* what the program itself has said; NULL: nothing */
	struct extents guarded;          /* and about which memory */
	bool spans;                      /* the policy makes blocks of the spans of locks */
	bool says_little;                /* the policy speaks of no place, variable or function that is open anywhere */
};

struct scope_line {
	stack_id stack;   /* that the line is on, by its enters and exits */
	bool fresh;       /* forked, and nothing done yet */
	bool step;        /* inside a function that is taken to be atomic, before its first event */
	uint32_t assumed; /* how many functions are open whose inside is taken for granted */
	struct activations *open; /* run_open() of the line; NULL: not asked for yet */
};

void scope_init(struct scope *s, struct run *run, const struct policy *policy, struct scope_listener to);

static inline struct scope_line *scope_line(struct scope *s, uint32_t line)
{
	return seg_at(&s->line, line, sizeof(struct scope_line));
}

/* The call stack that the line is on. */
static inline stack_id scope_stack(struct scope *s, uint32_t line)
{
	return scope_line(s, line)->stack;
}

/* The same with a function more that was not entered, called at the site. */
stack_id scope_stack_with(struct scope *s, stack_id stack, code_id code, site_id site);

/* A thread was forked onto the line. */
void scope_fork(struct scope *s, uint32_t line);

/* An event that is not the line's first any more, whatever it was. */
bool scope_first(struct scope *s, uint32_t line);

/* By the line's record, for whoever has that at hand. */
void scope_enter(struct scope *s, struct scope_line *l, const struct event *e, bool first);
void scope_exit(struct scope *s, struct scope_line *l, const struct event *e);
void scope_begin(struct scope *s, const struct event *e);
void scope_end(struct scope *s, const struct event *e);

/* The lock is taken by e; the lock that e gives back is no longer held. Only where `spans` says so. */
void scope_acquire(struct scope *s, const struct event *e);
void scope_release(struct scope *s, const struct event *e);

/* The program says something about itself. */
void scope_declare(struct scope *s, const struct event *e);

/* Memory is given out or given back. */
void scope_alloc(struct scope *s, const struct event *e);
void scope_free(struct scope *s, const struct event *e);

/* A fork, join, barrier or condition wait: before its edges are told, and after. */
void scope_cut(struct scope *s, const struct event *e);
void scope_resume(struct scope *s, const struct event *e);

/* Leaves everything that the line has open. */
void scope_close_all(struct scope *s, const struct event *e, uint32_t line);

/* Slow path of scope_watches. */
bool scope_watches_slowly(struct scope *s, struct event *e);

/* Whether checks are to see the event, and what they may assume about it: sets e->assumed. */
static inline bool scope_watches(struct scope *s, struct event *e)
{
	return __builtin_expect(s->says_little, 1) || scope_watches_slowly(s, e);
}

#endif
