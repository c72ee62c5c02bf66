/* SPDX-License-Identifier: MIT */
/*
 * The seam for strategies: who goes on? Pure: a strategy sees what each thread is about to do and picks one; it knows no
 * threads of the system, calls nothing, and allocates nothing but what it was given at the start. It is compiled into
 * the library inside the program under test and into the tool, so the same tests hold for both.
 */
#ifndef FISSION_SCHED_STRATEGY_H
#define FISSION_SCHED_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>

#include "sched/order.h"

enum { SCHED_THREADS = 1024 };

/* A thread of a controlled run that has started and not ended. */
struct sched_thread {
	uint32_t number;   /* by creation, from 1 */
	bool runnable;     /* it can do its next operation: the lock is free, the thread to be joined has ended */
	bool expiring;     /* it waits with a time limit, and would be let go by it */
	bool yields;       /* it sleeps or yields: others first */
	uint32_t kind;     /* of the next operation, as in struct order_step */
	uint32_t module, occurrence;
	uint64_t offset;
	uint64_t object;   /* the address that it is about; equal only if it is the same object */
	uint32_t blocker;  /* not runnable: the thread that must act first (a lock's owner, who is to be joined); 0: unknown */
};

struct sched {
	const struct order *order;
	const struct sched_thread *thread; /* by slot; number 0: none */
	uint32_t threads;                  /* slots in use */
	uint32_t current;                  /* slot of who runs */
	uint64_t step;                     /* of the run, from 1 */
	uint64_t random;                   /* the state of sched_random() */
	uint32_t next;                     /* of the order's steps: the one to be done next */
	uint32_t done;                     /* steps of the order that were done */
	bool diverged;                     /* the order could not be followed; from here on the run is free */
	uint64_t diverged_at;              /* step of the run */
	uint64_t memory[SCHED_THREADS + 64]; /* the strategy's own; all zero at the start */
};

enum { SCHED_NOBODY = UINT32_MAX };

struct strategy {
	const char *name;
	const char *summary; /* one line, for --help */
	void (*start)(struct sched *s); /* may be NULL */
	/*
	 * Before each operation of the current thread, and whenever that cannot go on. Returns the slot of a thread that is
	 * runnable, or of one that is expiring if none is; SCHED_NOBODY if there is none: a deadlock.
	 */
	uint32_t (*pick)(struct sched *s);
};

/* The strategy of that name, or NULL; all of them, NULL at the end. */
const struct strategy *strategy_named(const char *name);
extern const struct strategy *const strategies[];

void sched_start(struct sched *s, const struct order *o);
uint32_t sched_random(struct sched *s, uint32_t below);

#endif
