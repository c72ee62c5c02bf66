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
	bool expiring;     /* it waits with a time limit, and would be let go by it. While anyone is away, time is the
	                    * clock's: then only if the limit has passed */
	bool yields;       /* it sleeps, yields, or has long found nothing new: others first */
	bool away;         /* not runnable: it waits for something outside of the program, and comes back by itself */
	uint32_t kind;     /* of the next operation, as in struct order_step */
	uint32_t module, occurrence;
	uint64_t offset;
	uint64_t object;   /* the address that it is about; equal only if it is the same object */
	uint64_t since;    /* the run's step at which it came here */
	uint64_t until;    /* expiring: its time limit; the least comes first */
	uint32_t blocker;  /* not runnable: the thread that must act first (a lock's owner, who is to be joined); 0: unknown */
};

struct sched {
	const struct order *order;
	const struct sched_thread *thread; /* by slot; number 0: none */
	uint32_t threads;                  /* slots in use */
	uint32_t born;                     /* threads so far, those that have ended too: the greatest number */
	uint32_t current;                  /* slot of who runs */
	uint64_t step;                     /* of the run, from 1: the one that is about to be done by whoever is picked */
	uint64_t random;                   /* the state of sched_random() */
	uint32_t next;                     /* of the order's steps: the one to be done next */
	uint32_t done;                     /* steps of the order that were done */
	bool diverged;                     /* the order could not be followed; from here on the run is free */
	uint64_t diverged_at;              /* step of the run */
	/* What sched_pick() finds out for the strategy. */
	uint8_t rank;                      /* the best enum sched_rank of all threads */
	uint64_t least;                    /* RANK_EXPIRING: the time limit that comes first */
	/* What a strategy says beside its pick. */
	uint8_t asks;                      /* enum sched_asks, until it says otherwise */
	uint64_t quiet;                    /* so many steps of the picked thread, after this one, need no asking */
	bool culprit;                      /* the picked thread is about to do a step with ORDER_CULPRIT */
	uint64_t memory[SCHED_THREADS + 64]; /* the strategy's own; all zero at the start */
};

/* A pick that is no slot. */
enum {
	SCHED_NOBODY = UINT32_MAX,     /* nobody ever can go on: a deadlock */
	SCHED_LATER = UINT32_MAX - 1, /* nobody can before someone comes back who is away */
};

/* About which accesses to memory the strategy is to be asked; about everything else it always is. */
enum sched_asks {
	SCHED_ASKS_SHARED, /* to memory that threads may meet at */
	SCHED_ASKS_PLACES, /* at places that the order names */
	SCHED_ASKS_ALL,    /* to any, but for `quiet` */
	SCHED_ASKS_NONE,   /* to none, for the strategy's part */
};

/* How good a choice a thread is. */
enum sched_rank { RANK_NONE, RANK_EXPIRING, RANK_YIELDING, RANK_RUNNABLE };

/* A thread that yields stands back no longer than for so many steps of others: they may wait for it, and not know. */
enum { SCHED_PATIENCE = 10000 };

struct strategy {
	const char *name;
	const char *summary; /* one line, for --help */
	void (*start)(struct sched *s); /* may be NULL */
	/*
	 * Before each operation of the current thread, and whenever that cannot go on. Returns the slot of a thread that is
	 * runnable, or of one that is expiring if none is or the order says so; or of one that is away, if no other will
	 * do. Called through sched_pick() and only if there is any choice at all.
	 */
	uint32_t (*pick)(struct sched *s);
};

/*
 * Who goes on: asks the strategy, keeps to the order's budget, and tells a deadlock from waiting. Whatever the
 * strategy says, the result is the slot of a thread that can go on, or is away; or one of the words above.
 */
uint32_t sched_pick(struct sched *s, const struct strategy *g);

/* For strategies. */

/* Whether the thread in the slot is one of the best choices. Some is, whenever a strategy is asked. */
bool sched_may(const struct sched *s, uint32_t slot);
/* The slot of the thread of that number, or SCHED_NOBODY. */
uint32_t sched_find(const struct sched *s, uint32_t number);
/* The current thread if it may, otherwise the next one in the round. */
uint32_t sched_go_on(const struct sched *s);
/* The order cannot be followed. */
void sched_diverge(struct sched *s);
/* A number that depends on the seed and on what is given, and on nothing else. */
uint64_t sched_hash(const struct sched *s, uint64_t of);

/* The strategy of that name, or NULL; all of them, NULL at the end. */
const struct strategy *strategy_named(const char *name);
extern const struct strategy *const strategies[];

void sched_start(struct sched *s, const struct order *o);
uint32_t sched_random(struct sched *s, uint32_t below);

#endif
