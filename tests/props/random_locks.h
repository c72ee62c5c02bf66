/* SPDX-License-Identifier: MIT */
/*
 * Small random traces of straight-line programs with structured locking and declared blocks: the same parameters and
 * the same seed make the same trace everywhere.
 *
 * A thread is a row of transactions, a transaction a declared block of accesses and of critical sections, which end in
 * the block that they begin in. The threads' events are then mixed by a random schedule that gets to the end. Every
 * event has a place of its own and every block and function a name of its own.
 *
 * Ids: threads, variables and locks count from 1; variable x is guarded by lock 1 + (x - 1) % locks.
 */
#ifndef FISSION_TESTS_PROPS_RANDOM_LOCKS_H
#define FISSION_TESTS_PROPS_RANDOM_LOCKS_H

#include <stddef.h>
#include <stdint.h>

struct event;
struct tables;

/* No trace has more events. */
enum { RANDOM_LOCKS_MOST = 64 };

enum random_locks_flag {
	RANDOM_LOCKS_ONE_VARIABLE = 1, /* whatever `variables` says */
	RANDOM_LOCKS_NESTED = 2,       /* sections within sections, of the same lock too */
	RANDOM_LOCKS_GUARDED = 4,      /* every access under its variable's lock: no races; needs a lock */
	RANDOM_LOCKS_FORKS = 8,	       /* the first thread forks and joins the others */
	RANDOM_LOCKS_FUNCTIONS = 16,   /* activations around and inside blocks */
	RANDOM_LOCKS_READERS = 32,     /* shared sides of locks; a guarded write has the exclusive one */
	RANDOM_LOCKS_ORDERED = 64,     /* a lock within another has the higher id: no deadlocks */
	RANDOM_LOCKS_OUTSIDE = 128,    /* some transactions are not declared: their events stand alone */
};

struct random_locks {
	unsigned threads;      /* 2 or 3 */
	unsigned transactions; /* of one thread, at most, from 1 */
	unsigned accesses;     /* of one transaction, at most, from 1 */
	unsigned variables;    /* 1 to 3 */
	unsigned locks;	       /* 0 to 3 */
	unsigned events;       /* of the trace, at most; what does not fit is left out. 8 a thread is a good least */
	unsigned flags;	       /* enum random_locks_flag */
};

/* Fills `events`, which has room for RANDOM_LOCKS_MOST, and the fresh tables; returns how many. */
size_t random_locks(const struct random_locks *p, uint64_t seed, struct tables *tables, struct event *events);

/* Parameters that the seed draws: every combination comes up; the length is as given. */
struct random_locks random_locks_draw(uint64_t seed, unsigned events);

#endif
