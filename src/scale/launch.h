/* SPDX-License-Identifier: MIT */
/*
 * Units to workers, whoever starts them.
 *
 * A launcher is a row of a table: it starts `fission work` on a batch somewhere, and says when that has ended. What was
 * done is told by results alone, never by how a worker ended: a batch that has ended, and left a unit without a result,
 * has lost it; so has one that has taken twice its limit. A unit that was lost three times is written down as lost,
 * with what was said last, and nobody waits for it any more.
 *
 * Batches grow with what units and the start of a worker were seen to cost, so that the start costs little beside them,
 * and never so large that a slot is left without work. What was submitted first goes first.
 *
 * Everything is single-threaded: launch_poll() does all of it.
 */
#ifndef FISSION_SCALE_LAUNCH_H
#define FISSION_SCALE_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/map.h"
#include "scale/address.h"
#include "scale/depot.h"

struct fault;
struct launch;
struct launch_batch;

enum { LAUNCH_ATTEMPTS = 3 };

struct launcher {
	const char *name, *about;
	double batch; /* seconds of work that a batch should have */
	/* False with a fault; each of these may be NULL. */
	bool (*open)(struct launch *l, struct fault *fault);
	bool (*start)(struct launch *l, struct launch_batch *b, struct fault *fault);
	bool (*ended)(struct launch *l, struct launch_batch *b); /* whether its worker is gone */
	void (*stop)(struct launch *l, struct launch_batch *b);  /* whatever it does, it is to end */
	void (*close)(struct launch *l);
};

extern const struct launcher launch_local, launch_parallel, launch_slurm;
extern const struct launcher *const launchers_all[]; /* NULL at the end */

const struct launcher *launcher_named(const char *name);

enum task_state { TASK_WAITS, TASK_RUNS, TASK_DONE, TASK_LOST };

struct launch_task {
	struct address id;
	enum task_state state;
	unsigned attempts;
	double limit;
};

struct launch_batch {
	size_t *task, count;
	double worked; /* seconds that its worker was at units, as it says; 0: it does not say */
	double start, limit, looked; /* seconds of the clock; when somebody last looked for its end */
	bool over;
	pid_t pid;     /* of a local worker */
	unsigned number;
	char why[256]; /* what its worker has said last */
	int errors;    /* a descriptor that keeps it; -1: none */
};

struct launch_setup {
	const struct launcher *how;
	const struct depot *depot;
	const char *hosts;  /* a file; NULL: none */
	unsigned long jobs; /* on each host; 0: as many as there are processors */
	const char *self;   /* the file of fission; NULL: this program */
};

struct launch {
	struct arena arena;
	struct launch_setup setup;
	unsigned long slots;
	struct launch_task *task;
	size_t tasks, task_room, first; /* before `first` none waits */
	struct map index; /* of an id to its number + 1 */
	struct launch_batch *batch;
	size_t batches, batch_room;
	size_t running; /* batches */
	size_t urgent;  /* the number + 1 of the task that somebody waits for; 0: none */
	size_t waits;   /* units */
	unsigned number; /* of the last batch */
	size_t done, lost;
	size_t made;     /* of those that are done, by workers of ours */
	double spent;    /* seconds that their batches took */
	double worked;   /* of these, at units; the rest is what it costs to start a worker */
	size_t ended;    /* batches */
	pid_t engine, guard;    /* of launchers that have one process for all of it */
	int feed, keep;  /* its standard input; what the guard waits for */
	unsigned tick;   /* the number of the last empty batch that it was given */
	double fed;      /* when it was given something last */
	char dir[DEPOT_PATH]; /* where its batches are */
};

bool launch_open(struct launch *l, const struct launch_setup *setup, struct fault *fault);

/*
 * A unit of the depot, once; one that was submitted before stays what it is. One that has a result is done. Returns
 * whether it is new.
 */
bool launch_submit(struct launch *l, const struct address *id, double limit);

/* Somebody waits for that one: it goes first. */
void launch_hurry(struct launch *l, const struct address *id);

/* Starts and ends what is due, and waits a little if there was nothing to do. */
bool launch_poll(struct launch *l, struct fault *fault);

enum task_state launch_state(const struct launch *l, const struct address *id);

/* Whether a worker would be idle. */
bool launch_is_idle(const struct launch *l);

/* Units that wait or run. */
size_t launch_left(const struct launch *l);

/* Seconds until all that was submitted is done, as it looks now. */
double launch_eta(const struct launch *l);

/* For launchers: the seconds at units that a side file tells of, all lines together; 0 if there is none. */
double launch_side(const char *path);

/* Ends every worker. */
void launch_close(struct launch *l);

#endif
