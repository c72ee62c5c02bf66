/* SPDX-License-Identifier: MIT */
/*
 * The search: from one run of a program to violations that happen, each with a replay in hand. 002, Algorithm 1.
 *
 * Executions come from two sources: free ones, by a strategy and a seed, the first with as few changes of threads as
 * there can be; and plans, each of which is another order of some execution that splits a block (predict/). Every
 * execution is judged, whatever it was for, and gives candidates and plans in its turn. So a plan that could not be
 * followed still brings the search further, as in the paper; what ends it is the time, or that no plan is left and free
 * executions have long brought nothing new: no candidate, and no read that saw a write from a place that was new to it.
 *
 * What counts (judge.h) is executed once more, by the order that it took. If that ends the same way, with the same
 * three values, it is reproduced. Then the two blocks are run one after the other, both ways, to tell what ought to
 * have happened.
 *
 * A crash, a hang or a deadlock of the program is no failure of the search: it is kept, with its replay.
 *
 * Memory: an execution that brought nothing is let go of at once; plans are orders without pointers to it.
 */
#ifndef FISSION_CHASE_CHASE_H
#define FISSION_CHASE_CHASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "chase/replay_file.h"
#include "report/story.h"

struct chase;
struct execution;
struct judged;
struct policy;

struct chase_setup {
	char **argv;
	struct text input; /* standard input, of each execution */
	const struct policy *policy;
	double seconds;    /* for all of it; 0: as long as there is something to try */
	unsigned long seeds, jobs; /* free executions at most; threads that make plans, 0: as many as there are cores */
	uint64_t only;     /* the id of the finding that is wanted; 0: any */
	struct text function; /* plans for blocks of that name alone; empty: for all */
	void *to;
	void (*tell)(void *to, const struct chase *c); /* after each execution; may be NULL */
};

/* The execution that was judged last. */
struct chase_last {
	const struct order *by;
	bool diverged;
	uint32_t done;        /* of the order's steps */
	struct outcome outcome;
	size_t split, counts; /* blocks that were split; of them those that no serial order explains */
	size_t fast;          /* of those: what the fast conditions alone tell */
	size_t candidates, plans; /* new ones */
	double seconds;
};

/* What was reproduced. */
struct chase_hit {
	struct judged *judged;
	size_t finding;      /* number in its findings */
	uint64_t executions; /* that it took, without those that made sure of it */
	struct replay replay;
	struct text file;    /* what is to be written */
	struct text then;    /* what the program did */
	bool harm;           /* it crashed, or did what it does in no serial order */
	struct story_outcome *outcome;
	size_t outcomes;
};

struct chase_failure {
	struct story_failure story;
	uint64_t executions;
	struct text file;
};

/* A plan that waits for its turn. */
struct chase_plan {
	struct order *order;
	uint64_t key, defect; /* of its candidate: the three places; the block and its own two */
};

struct chase {
	struct arena arena;
	const struct chase_setup *setup;
	double start, each; /* when it began; how long an execution may take */
	uint64_t budget;    /* and how many steps, before it is let go freely; 0: not known yet */
	uint64_t candidates, feasible, tried, executions;
	uint64_t events;   /* of all executions */
	bool reached;      /* the function of the setup was called */
	uint64_t diverged; /* plans that could not be followed to their end */
	uint64_t repeats;  /* executions that counted, and could not be repeated */
	bool over;         /* the time was over before everything was tried */
	struct chase_last last;
	struct map keys;   /* candidate to how often it was tried + 1 */
	struct map planned; /* candidate to how many plans it has */
	struct map done;   /* what was reproduced: see chase.c */
	struct map stuck;  /* beginnings of plans that could not be followed */
	struct map pairs;  /* (place of a write, place of a read that saw it) */
	struct chase_plan *plan;
	size_t plans, next, plan_room;
	struct chase_plan *late; /* when no other is left: of two variables, or put off */
	size_t lates, next_late, late_room;
	size_t wides;            /* of two variables */
	struct chase_hit *hit;
	size_t hits, hit_room;
	struct chase_failure *failure;
	size_t failures, failure_room;
};

/* False with a fault if the program could not be started, or not be controlled. */
bool chase_search(struct chase *c, const struct chase_setup *setup, struct fault *fault);

void chase_free(struct chase *c);

/* How much time is left, in seconds; 0 if none is, or nobody has set a limit. */
double chase_left(const struct chase *c);

#endif
