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
#include "base/shard.h"
#include "chase/replay_file.h"
#include "report/story.h"

struct chase;
struct execution;
struct judged;
struct policy;
struct steer;

struct chase_setup {
	char **argv;
	const char *path;  /* of the program's file; NULL: as argv[0] says */
	struct text input; /* standard input, of each execution */
	const struct inputs_more *more; /* and what else it is given; NULL: nothing */
	const struct policy *policy;
	double seconds;    /* for all of it; 0: as long as there is something to try */
	unsigned long seeds, jobs; /* free executions at most; threads that make plans, 0: as many as there are cores */
	uint64_t only;     /* the id of the finding that is wanted; 0: any */
	struct text function; /* plans for blocks of that name alone; empty: for all */
	bool planless;     /* free executions alone, to see what plans are good for */
	const struct steer *steer; /* who finds other inputs; NULL: they are always the same */
	double each;          /* seconds that an execution may take; 0: by what the first one took */
	struct shard shard;   /* of free executions, and of plans that come from the first one: those that are ours */
	void *to;
	void (*tell)(void *to, const struct chase *c); /* after each execution; may be NULL */
	/*
	 * Executions by somebody else (scale/); NULL: by the search itself. Learns what the execution by that order has taught
	 * (lesson.h). False with a fault if it is not to be had.
	 */
	bool (*obtain)(void *to, struct chase *c, struct order *o, bool *fresh, struct fault *fault);
};

/* The execution that was judged last. */
struct chase_last {
	const struct order *by;
	bool diverged;
	uint32_t done;        /* of the order's steps */
	struct outcome outcome;
	size_t split, counts; /* blocks that were split; of them those that no serial order explains */
	size_t candidates, plans; /* new ones */
	double seconds;
};

/* What was reproduced. */
struct chase_hit {
	struct judged *judged; /* NULL: it comes from a lesson */
	uint64_t id, defect, block; /* of the finding; keys that keep it from being tried once more */
	size_t finding;      /* number in its findings */
	uint64_t executions; /* that it took, without those that made sure of it */
	struct replay replay;
	struct text file;    /* what is to be written */
	struct text then;    /* what the program did */
	const struct inputs *inputs; /* that it needs; NULL: those of the setup */
	bool harm;           /* it crashed, or did what it does in no serial order */
	struct story_outcome *outcome;
	size_t outcomes;
};

struct chase_failure {
	struct story_failure story;
	uint64_t key;
	uint64_t executions;
	struct text file;
};

/* A candidate by its keys: the three places; the block and its own two. */
struct chase_candidate {
	uint64_t key, defect;
};

/* A plan that waits for its turn. */
struct chase_plan {
	struct order *order;
	struct chase_candidate of;
	bool worked_out; /* not the three accesses alone */
	const struct inputs *inputs; /* of the execution that it comes from */
};

/* Orders that would come next. */
struct chase_ahead {
	struct order **order;
	size_t count, most;
};

struct chase {
	struct arena arena;
	const struct chase_setup *setup;
	struct inputs given;         /* what the setup says */
	const struct inputs *inputs; /* of the execution at hand */
	double start, each; /* when it began; how long an execution may take */
	uint64_t budget;    /* and how many steps, before it is let go freely; 0: not known yet */
	uint64_t candidates, feasible, tried, executions;
	uint64_t events;   /* of all executions */
	uint64_t steps;    /* of the last one */
	uint64_t seed;     /* of the last free execution */
	bool reached;      /* the function of the setup was called */
	uint64_t diverged; /* plans that could not be followed to their end */
	uint64_t repeats;  /* executions that counted, and could not be repeated */
	bool over;         /* the time was over before everything was tried */
	struct chase_last last;
	struct chase_candidate *known; /* candidates, as they came */
	size_t knowns, known_room;
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

/* One execution alone: what it teaches somebody who knows nothing is in `c` then. The order has its own budget. */
bool chase_once(struct chase *c, const struct chase_setup *setup, struct order *o, struct fault *fault);

/* What the search would execute next, most promising first, as far as it knows. */
void chase_look_ahead(struct chase *c, struct chase_ahead *to);

void chase_free(struct chase *c);

/* For lessons (lesson.h): the rules by which a search learns. */
bool chase_wants(const struct chase *c, struct chase_candidate of);
bool chase_note_candidate(struct chase *c, struct chase_candidate of); /* whether it is new */
bool chase_note_pair(struct chase *c, uint64_t pair);
bool chase_is_first_plan(struct chase *c, uint64_t key);
bool chase_wants_wide(const struct chase *c, uint64_t key);
void chase_add_plan(struct chase *c, struct chase_plan p);
void chase_add_wide(struct chase *c, struct chase_plan p);
void chase_note_done(struct chase *c, const struct chase_hit *h);

/* How much time is left, in seconds; 0 if none is, or nobody has set a limit. */
double chase_left(const struct chase *c);

#endif
